"""The reference pages in the repository are the ones that the code declares."""

from pathlib import Path

from from_code.reference import pages

ROOT = Path(__file__).parents[1]


def test_pages_are_up_to_date():
    outdated = [path for path, text in pages().items() if (ROOT / path).read_text(encoding="utf-8") != text]
    assert not outdated, "run `make reference`"
