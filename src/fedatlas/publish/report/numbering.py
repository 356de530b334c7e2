"""The numbered items that the source of an experiment names, such as ``Figures 1(a), 3(a) and Theorem 4.4``."""

import re
from dataclasses import dataclass

_SECTIONS = ("section", "appendix")
_PLURALS = {"appendix": "appendices", "corollary": "corollaries"}
_NOUNS = ("figure", "table", "theorem", "corollary", "proposition", "lemma", "example", *_SECTIONS)
_NOUN_OF = {word: noun for noun in _NOUNS for word in (_PLURALS.get(noun, f"{noun}s"), noun)}
_NUMBER = r"(?:[A-Z]\.)?\d+(?:\.\d+)*"
_PART = r"\s*\((\w)\)"
_ITEM = rf"(?:{_NUMBER}(?![\w-]))?(?:\s*\(\w\))?"
_LIST = re.compile(rf"\b((?i:{'|'.join(_NOUN_OF)}))\s+({_ITEM}(?:(?:,|,? and)\s+(?=\d|[A-Z]\.\d|\(\w\)){_ITEM})*)")


@dataclass(frozen=True)
class PaperItem:
    """A numbered item of a paper. noun: such as ``figure``. number: ``3``, or ``C.1``. part: ``a``, or empty."""

    noun: str
    number: str
    part: str = ""

    def __str__(self) -> str:
        return f"{self.noun.capitalize()} {self.number}" + (f"({self.part})" if self.part else "")

    def covers(self, item: "PaperItem") -> bool:
        """Return whether two items are the same, or one is a part of the other."""
        same = (self.noun, self.number) == (item.noun, item.number)
        return same and (not self.part or not item.part or self.part == item.part)


def find_places(source: str) -> list[PaperItem]:
    """Return the figures, tables, theorems and other statements that a text names; if there are none, its sections.

    Each is named once, in the order of the text. ``Figures 1 and 3``, ``Figures 3(c) and (d)``, ``Figure C.1`` and
    ``Theorem 4.4`` are read. A number that no noun stands before is none of an item.
    """
    items: dict[PaperItem, None] = {}
    for noun, numbers in _LIST.findall(source):
        number = ""
        for found, part in re.findall(rf"({_NUMBER})?(?:{_PART})?", numbers):
            number = found or number
            if found or part:
                items[PaperItem(_NOUN_OF[noun.lower()], number, part)] = None
    return [item for item in items if item.noun not in _SECTIONS] or list(items)
