"""Names and definitions of TeX macros: a macro's name has letters alone, and none is defined twice."""

import re
import unicodedata
from collections.abc import Iterator

from fedatlas.publish.paper import tex

DIGITS = ("Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")
SIGNS = {".": "Point", "-": "Minus", "+": "Plus", "−": "Minus", "%": "Percent"}


def name(*parts: str) -> str:
    """A macro's name, without the backslash, from texts: ``claim``, ``fedac-rounds`` are ``ClaimFedacRounds``.

    A digit is a word, and so are the point and the sign of a number. The name is not empty and has ASCII letters alone.
    """
    return "".join(word for part in parts for word in _words(part)) or "Empty"


def _words(text: str) -> Iterator[str]:
    plain = "".join(
        tex.LETTERS.get(c) or (c if c in SIGNS else "".join(d for d in unicodedata.normalize("NFKD", c) if d.isascii()))
        for c in text
    )
    for found in re.finditer(r"([-+−]?)(\d+(?:\.\d+)?)|([A-Za-z]+)|(\S)", plain):
        sign, digits, letters, other = found.groups()
        before = plain[found.start() - 1 : found.start()]
        if digits:
            yield SIGNS[sign] if sign and not before.isalnum() else ""
            yield from (SIGNS["."] if d == "." else DIGITS[int(d)] for d in digits)
        elif letters:
            yield letters[0].upper() + letters[1:]
        elif other in "+%":
            yield SIGNS[other]


class Macros:
    """Definitions in the order in which they are added. prefix: of all names, such as that of the experiment."""

    def __init__(self, prefix: str) -> None:
        self.prefix, self.lines = prefix, list[str]()
        self._taken: set[str] = set()

    def add(self, *parts: str, value: str, told: str) -> str:
        """Define a macro and return its name.

        parts: of the name; a name that is taken gets a letter more. value: as TeX. told: what it is, for a comment.
        """
        wanted = name(self.prefix, *parts)
        found, more = wanted, 1
        while found in self._taken:
            more += 1
            found = f"{wanted}V{name(str(more))}"
        self._taken.add(found)
        self.lines.append(rf"\newcommand{{\{found}}}{{{value}}} {tex.comment(told)}")
        return found

    def say(self, text: str) -> None:
        """Add a comment on a line of its own."""
        self.lines += ["", tex.comment(text)]
