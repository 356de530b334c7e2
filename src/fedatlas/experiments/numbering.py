"""The numbered items that the source of an experiment names, such as ``Figures 1(a), 3(a) and Theorem 4.4``."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_SECTIONS = ("section", "appendix")
# Nouns by the words that stand for them, in lower case; an s may follow.
_NOUNS = {noun: noun for noun in ("figure", "table", "theorem", "corollary", "proposition", "lemma", "example")} | {
    "fig": "figure", "tab": "table", "corollarie": "corollary", "section": "section", "appendix": "appendix",
    "appendice": "appendix",
}  # fmt: skip
_NUMBER = r"(?:[A-Z]\.)?\d+(?:\.\d+)*"
_PARTS = r"(?:\(\w\)(?:\s*(?:,|and|,\s*and)\s*(?=\(\w\)))?)*"
_ITEM = rf"{_NUMBER}(?:[a-z]\b|(?![\w.]*\w)\s*{_PARTS})"
_NEXT = rf"\s*(?:to|and|or|,\s*and|,)\s*(?={_NUMBER}(?![\w.-]*\w)){_ITEM}"
_LIST = re.compile(rf"\b((?i:{'|'.join(_NOUNS)}))(?i:s?)\b\.?\s*({_ITEM}(?:{_NEXT})*)")
_ITEMS = re.compile(rf"(to\s*)?({_NUMBER})(?:([a-z])\b|\s*({_PARTS}))")
_LONGEST = 100  # numbers of one range


@dataclass(frozen=True)
class PaperItem:
    """A numbered item of a paper. noun: such as ``figure``. number: ``3``, or ``C.1``. part: ``a``, or empty."""

    noun: str
    number: str
    part: str = ""

    def __str__(self) -> str:
        return f"{self.noun.capitalize()} {self.number}" + (f"({self.part})" if self.part else "")

    def covers(self, item: "PaperItem") -> bool:
        """Return whether two items are the same, or one is a part of the other. ``c1`` stands for ``C.1``."""
        ours, theirs = ((side.noun, side.number.replace(".", "").lower()) for side in (self, item))
        return ours == theirs and (not self.part or not item.part or self.part == item.part)


def find_places(source: str) -> list[PaperItem]:
    """Return the figures, tables, theorems and other statements that a text names; if there are none, its sections.

    Each is named once, in the order of the text. ``Figures 1 and 3``, ``Figures 3(c) and (d)``, ``Figure 3d``, ``Tables
    2 to 4``, ``Fig. C.1`` and ``Theorem 4.4`` are read. A number that no noun stands before is none of an item.
    """
    items = list(dict.fromkeys(_find_items(source)))
    return [item for item in items if item.noun not in _SECTIONS] or items


def _find_items(source: str) -> Iterator[PaperItem]:
    for noun, numbers in _LIST.findall(source):
        last = ""
        for to, number, letter, parts in _ITEMS.findall(numbers):
            if to and last.isdecimal() and number.isdecimal():
                between = range(int(last) + 1, int(number))
                yield from (PaperItem(_NOUNS[noun.lower()], str(middle)) for middle in between[:_LONGEST])
            for part in [letter] if letter else re.findall(r"\((\w)\)", parts) or [""]:
                yield PaperItem(_NOUNS[noun.lower()], number, part)
            last = number
