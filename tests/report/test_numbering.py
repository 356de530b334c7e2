"""The figures and tables that a source names are read as the paper numbers them."""

import pytest

from fedatlas.publish.report.numbering import find_places


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("Example 1 (Section 3.1) and Figure 1", "Example 1, Figure 1"),
        ("Lemmas 3, 5 and 6, Corollaries 2 and 3", "Lemma 3, Lemma 5, Lemma 6, Corollary 2, Corollary 3"),
        ("Theorem 3 (b), Theorem 4.4; Appendix C.4", "Theorem 3(b), Theorem 4.4"),
        ("Section 2", "Section 2"),
        ("Figures 1(a), 3(a), 5(a); Table 4, CIFAR-10 (100-10%)", "Figure 1(a), Figure 3(a), Figure 5(a), Table 4"),
        ("Figures 2(d), (e) and 8", "Figure 2(d), Figure 2(e), Figure 8"),
        ("Figure C.1, Appendix C", "Figure C.1"),
        ("Appendices D.2 and E.1", "Appendix D.2, Appendix E.1"),
        ("no figure of the paper", ""),
    ],
)
def test_statements_are_places_and_sections_where_there_are_none(source, expected):
    assert ", ".join(map(str, find_places(source))) == expected


@pytest.mark.parametrize(
    ("one", "other", "covers"),
    [("Figure 3", "Figure 3(a)", True), ("Figure 3(a)", "Figure 3(b)", False)],
)
def test_an_item_covers_its_parts(one, other, covers):
    (item,), (part,) = find_places(one), find_places(other)
    assert item.covers(part) is covers
