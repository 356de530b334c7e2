"""BibTeX files of people and programs are read, and mistakes are told with their line."""

import pytest

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
    result = parse_entries(STYLES, "references.bib")
    assert list(result) == ["one:2020/a+b", "two"]
    assert str(result["two"].raw).startswith("@misc{two,") and str(result["two"].raw).endswith("}")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("\n@misc{a, title = {x", "it.bib, line 2: "),
        ("@misc{a, title={x}}\n@misc{a, title={y}}", "it.bib, line 2: Duplicate"),
    ],
)
def test_a_mistake_is_told_with_its_line(text, complaint):
    with pytest.raises(UserError, match=complaint):
        parse_entries(text, "it.bib")
