"""The figures and tables that a source names are read as the paper numbers them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedatlas.experiments.numbering import PaperItem, find_items, find_places, format_items, parse_name

NUMBERS = st.one_of(st.integers(1, 99).map(str), st.builds("{}.{}".format, st.sampled_from("ABCF"), st.integers(1, 20)))
PLACES = st.builds(PaperItem, st.sampled_from(["figure", "table"]), NUMBERS, st.sampled_from(["", "a", "b", "z"]))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("Figures 1 and 3, Section 5 and Appendix A.2", "Figures 1 and 3"),
        (
            "Figures 1(a), 3(a), 5(a) and 5(b); Table 4, CIFAR-10 (100-10%); Table 5",
            "Figures 1(a), 3(a), 5(a) and 5(b), Tables 4 and 5",
        ),
        ("Table 2 (CIFAR-10 and CINIC-10), Table 8 and Figure 7 (Section 7)", "Tables 2 and 8, Figure 7"),
        ("Figure 3(c) and (d)", "Figures 3(c) and 3(d)"),
        ("Figs. 2(d), (e) and 8", "Figures 2(d), 2(e) and 8"),
        ("Tables 2 to 4", "Tables 2, 3 and 4"),
        ("the paper's Figure 2a", "Figure 2(a)"),
        ("Figure C.1, Appendix C", "Figure C.1"),
        ("Section 4, equations 2 to 5 and Theorem 4.4", ""),
        ("no figure of the paper; the configuration 3 of a table", ""),
    ],
)
def test_sources_of_the_atlas(source, expected):
    assert format_items(find_items(source)) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("Example 1 (Section 3.1) and Figure 1", "Example 1, Figure 1"),
        ("Lemmas 3, 5 and 6, Corollaries 2 and 3", "Lemma 3, Lemma 5, Lemma 6, Corollary 2, Corollary 3"),
        ("Theorem 3 (b), Theorem 4.4; Appendix C.4", "Theorem 3(b), Theorem 4.4"),
        ("Section 2", "Section 2"),
        ("Appendices D.2 and E.1", "Appendix D.2, Appendix E.1"),
        ("no figure of the paper", ""),
    ],
)
def test_statements_are_places_and_sections_where_there_are_none(source, expected):
    assert ", ".join(map(str, find_places(source))) == expected


@given(PLACES, st.sampled_from(["fig", "figure", "tab", "table"]))
def test_a_name_asks_for_what_its_number_says(item, noun):
    beginning, result = parse_name(f"fedac_{noun}{item.number.replace('.', '').lower()}{item.part}")
    assert beginning == "fedac" and result.noun == {"fig": "figure", "tab": "table"}.get(noun, noun)
    ours = PaperItem(result.noun, item.number, item.part)
    assert ours.covers(result) and PaperItem(result.noun, item.number).covers(result)
    assert not PaperItem(result.noun, item.number + "0", item.part).covers(result)
