"""The numbered items that the source of an experiment names, such as ``Figures 1(a), 3(a) and Theorem 4.4``."""

import re
from collections.abc import Iterator
from dataclasses import dataclass


class _Grammar:
    """How a text names items of some nouns.

    Args:
        nouns: The nouns by the words that stand for them, in lower case; an s may follow.
        number: Pattern of a number.
        part: Pattern of the part of an item, which stands in brackets behind the number. It may also be a letter right
            behind the number.
    """

    def __init__(self, nouns: dict[str, str], number: str, part: str) -> None:
        self.nouns = nouns
        self.noun = re.compile(rf"\b({'|'.join(nouns)})s?\b\.?\s*(?={number})", re.IGNORECASE)
        parts = rf"((?:\({part}\)(?:\s*(?:,|and|,\s*and)\s*(?=\({part}\)))?)*)"
        self.item = re.compile(rf"({number})(?:([a-z])\b|(?![\w.]*\w)\s*{parts})")
        self.part = re.compile(rf"\(({part})\)")
        self.next = re.compile(rf"\s*(to|and|or|,\s*and|,)\s*(?={number}(?![\w.-]*\w))")


_FIGURES = {"figure": "figure", "fig": "figure", "table": "table", "tab": "table"}
_STATEMENTS = {noun: noun for noun in ("theorem", "corollary", "proposition", "lemma", "example")}
_STATEMENTS["corollarie"] = "corollary"  # the plural without its s
_SECTIONS = {"section": "section", "appendix": "appendix", "appendice": "appendix"}
_LONG_NUMBER = r"(?:[A-Z]\.)?\d+(?:\.\d+)*"
_STATEMENT_GRAMMAR = _Grammar(_FIGURES | _STATEMENTS, _LONG_NUMBER, r"\w")
_SECTION_GRAMMAR = _Grammar(_SECTIONS, _LONG_NUMBER, r"\w")
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
    return list(dict.fromkeys(_find_items(source, _STATEMENT_GRAMMAR))) or list(
        dict.fromkeys(_find_items(source, _SECTION_GRAMMAR))
    )


def _find_items(source: str, grammar: _Grammar) -> Iterator[PaperItem]:
    position = 0
    while head := grammar.noun.search(source, position):
        noun, position, last, joint = grammar.nouns[head[1].lower()], head.end(), "", ""
        while item := grammar.item.match(source, position):
            number, position = item[1], item.end()
            parts = [item[2]] if item[2] else grammar.part.findall(item[3])
            if joint == "to" and last.isdecimal() and number.isdecimal():
                between = range(int(last) + 1, int(number))
                yield from (PaperItem(noun, str(middle)) for middle in between[:_LONGEST])
            yield from (PaperItem(noun, number, part) for part in parts or [""])
            if not (follows := grammar.next.match(source, position)):
                break
            last, joint, position = number, follows[1], follows.end()
