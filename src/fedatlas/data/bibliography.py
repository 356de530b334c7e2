"""BibTeX entries of the data sets."""

from functools import cache
from pathlib import Path


@cache
def bibliography() -> dict[str, str]:
    """BibTeX entries by key, from ``sources.bib``."""
    entries = Path(__file__).with_name("sources.bib").read_text(encoding="utf-8").strip().split("\n\n")
    return {entry[entry.index("{") + 1 : entry.index(",")]: entry for entry in entries}
