"""The reference pages in the repository are the ones that the code declares."""

from pathlib import Path

import pytest

from fedatlas.cli.reference import pages

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("path", pages(), ids=str)
def test_a_page_is_up_to_date(path):
    assert (ROOT / path).read_text(encoding="utf-8") == pages()[path], "run `make reference`"
