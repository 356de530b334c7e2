"""Files that a person names: every reader takes regular files alone, and says so in one sentence."""

import pytest

from fedatlas.errors import LENGTH, UserError, did_you_mean, shorten
from fedatlas.io.yaml import parse_yaml, read_yaml


def test_a_text_is_utf_8(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_bytes(b"\xef\xbb\xbftitle: x")
    assert read_yaml(path) == {"title": "x"}
    path.write_bytes(b"\xff")
    with pytest.raises(UserError, match="is not text in UTF-8"):
        read_yaml(path)
    with pytest.raises(UserError, match="cannot be read"):
        read_yaml("a\0b")


HOSTILE_YAML = [
    "!!int ''", "!!float ''", "!!bool x", "!!timestamp x", "!!set [a]", "!!map [a]", "!!seq {a: b}", "!!binary x",
    "!!omap [a]", "9" * 5000, f"0x{'f' * 300}", f"-{'9' * 400}", "2001-02-30", "!mine x", "<<", r'"\ud800"', "\ud800",
    "[" + "1," * 200_001 + "]", "!!int 1:x", "{<<: [a]}",
]  # fmt: skip


@pytest.mark.parametrize("content", HOSTILE_YAML, ids=lambda content: content[:12])
def test_yaml_that_is_of_no_json_type_is_refused(content):
    with pytest.raises(UserError, match=r"^mine.*(quote it|cannot be read as|not valid YAML|holds more than)"):
        parse_yaml(content, "mine")


def test_sentences_are_short_and_keep_both_ends():
    error = UserError(f"first {'x' * 5000} last")
    assert len(str(error)) <= LENGTH and str(error).startswith("first ") and str(error).endswith(" last")
    assert shorten("x" * LENGTH) == "x" * LENGTH and str(UserError(error)) == str(error)
    names = [f"name{number}" for number in range(500)]
    assert did_you_mean("name5x", names).endswith("more)") and len(did_you_mean("y" * 9999, names)) <= LENGTH
    assert did_you_mean("a", ["a", "b"]) == "; did you mean 'a'? (known: a, b)"
