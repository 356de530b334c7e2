"""The figures and tables that the source of an experiment names, such as ``Figures 1(a), 3(a) and Table 4``."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

NOUNS = {"figure": "figure", "fig": "figure", "table": "table", "tab": "table"}
_NUMBER = r"(?:[A-Z]\.)?\d+"
_NOUN = re.compile(r"\b(figure|fig|table|tab)s?\b\.?\s*(?=(?:[A-Z]\.)?\d)", re.IGNORECASE)
_ITEM = re.compile(rf"({_NUMBER})(?![\w.]*\w)\s*((?:\([a-z]\)(?:\s*(?:,|and|,\s*and)\s*(?=\([a-z]\)))?)*)")
_NEXT = re.compile(rf"\s*(to|and|,\s*and|,)\s*(?={_NUMBER}(?![\w.-]*\w))")
_LONGEST = 100  # numbers of one range


@dataclass(frozen=True, order=True)
class PaperItem:
    """A figure or table of a paper. noun: ``figure`` or ``table``. number: ``3``, or ``C.1``. part: ``a``, or empty."""

    noun: str
    number: str
    part: str = ""

    def __str__(self) -> str:
        return f"{self.noun.capitalize()} {self.number}" + (f"({self.part})" if self.part else "")

    def covers(self, item: "PaperItem") -> bool:
        """Return whether this item is a figure or table, or holds a part of one. ``c1`` stands for ``C.1``."""
        ours, theirs = ((side.noun, side.number.replace(".", "").lower()) for side in (self, item))
        return ours == theirs and (not self.part or not item.part or self.part == item.part)


def find_items(source: str) -> list[PaperItem]:
    """Return the figures and tables that a text names, each once, in its order.

    ``Figures 1 and 3``, ``Figures 3(c) and (d)``, ``Tables 2 to 4`` and ``Fig. C.1`` are read. A number that no noun
    stands before is none of a figure: ``Table 1, CIFAR-10 (500-2%)`` names one table.
    """
    return list(dict.fromkeys(_find_items(source)))


def _find_items(source: str) -> Iterator[PaperItem]:
    position = 0
    while head := _NOUN.search(source, position):
        noun, position, last, joint = NOUNS[head[1].lower()], head.end(), "", ""
        while item := _ITEM.match(source, position):
            number, parts, position = item[1], re.findall(r"\(([a-z])\)", item[2]), item.end()
            if joint == "to" and last.isdecimal() and number.isdecimal():
                between = range(int(last) + 1, int(number))
                yield from (PaperItem(noun, str(middle)) for middle in between[:_LONGEST])
            yield from (PaperItem(noun, number, part) for part in parts or [""])
            if not (follows := _NEXT.match(source, position)):
                break
            last, joint, position = number, follows[1], follows.end()


def format_items(items: Iterable[PaperItem]) -> str:
    """Return figures and tables as text that ``find_items`` reads: ``Figures 1(a) and 3, Table 4``."""
    groups: dict[str, list[str]] = {}
    for item in items:
        groups.setdefault(item.noun, []).append(str(item).partition(" ")[2])
    return ", ".join(
        f"{noun.capitalize()}{'s' if len(numbers) > 1 else ''} {_listed(numbers)}" for noun, numbers in groups.items()
    )


def _listed(numbers: list[str]) -> str:
    return f"{', '.join(numbers[:-1])} and {numbers[-1]}" if len(numbers) > 1 else numbers[0]


def parse_name(name: str) -> tuple[str, PaperItem] | None:
    """Parse a name such as ``fedac_fig3``, ``fedspeed_table7`` or ``fedred_figc1``.

    Returns the beginning that the names of a paper's experiments share (``fedac``), and the figure or table; None for
    any other name.
    """
    match = re.fullmatch(r"(.+?)[_-](fig|tab)(?:ure|le)?s?[_-]?([a-z]?\.?\d+)([a-z]?)", name, re.IGNORECASE | re.ASCII)
    if match is None or len(match[3]) > 12:
        return None
    return match[1], PaperItem(NOUNS[match[2].lower()], match[3], match[4].lower())
