"""BibTeX files of any style are read as BibTeX does, and mistakes are told with their line."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedatlas.errors import UserError
from fedatlas.registry.bibliography import parse_entries

STYLES = """
% a remark with an address, someone@example.org
@comment{jabref-meta: databaseType:bibtex;}
@ARTICLE{ one:2020/a+b , Author = "A. {B}ee and {\\"O}zge, C.", title={A {Nested {Title}}}, journal={J, W\\&CP}
  year=2020, month = jan}
@misc{two,
  title = {In "brackets"},

  note = {a
     b},
}
"""


def test_styles_of_people_and_programs():
    result = parse_entries(STYLES.replace('{\\"O}zge', "Özge"), "references.bib")
    assert list(result) == ["one:2020/a+b", "two"]
    first, second = result.values()
    assert first.kind == "article" and first.location == "references.bib, line 4"
    assert first.fields == {
        "author": "A. {B}ee and Özge, C.",
        "title": "A {Nested {Title}}",
        "journal": "J, W\\&CP",
        "year": "2020",
        "month": "jan",
    }
    assert second.fields == {"title": 'In "brackets"', "note": "a b"}
    assert second.text.startswith("@misc{two,") and second.text.endswith("}")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("\n@misc{a, title = {x", "line 2: a has no end: a brace is not closed"),
        ("@misc{a, title = {x},\n\n@misc{b, title = {y}}", "line 1: a has no end"),
        ('@misc{a, title = "x}', "line 1: a: expected NAME = {value}"),
        ("@misc{a,\n title = Some words}", "line 2: a: expected NAME = {value}"),
        ("@misc{a, title}", "line 1: a: expected NAME = {value}"),
        ("@misc{a, title={x}}\n@misc{a, title={y}}", "line 2: the key 'a' is also that of it.bib, line 1"),
    ],
)
def test_a_mistake_is_told_with_its_line(text, complaint):
    with pytest.raises(UserError, match=re.escape(complaint)):
        parse_entries(text, "it.bib")


@given(st.text(alphabet='@{}(),="#% \n\\abcmisc10', max_size=80))
def test_any_text_is_read_or_refused(text):
    try:
        result = parse_entries(text, "it.bib")
    except UserError as error:
        assert str(error).startswith("it.bib, line ")
    else:
        assert all(entry.location.startswith("it.bib, line ") for entry in result.values())
