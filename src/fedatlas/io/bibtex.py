"""BibTeX files: entries with their fields, as BibTeX reads them, and mistakes with their line."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from fedatlas.errors import UserError

MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_NAME = r"[^\s\"#%'(),={}@]+"
_IGNORED = ("comment", "preamble")


@dataclass(frozen=True)
class Entry:
    """An entry of a bibliography.

    key: its name. kind: such as ``article``. fields: values by name in small letters, white space as one blank and
    without what encloses them. text: the entry as BibTeX. where: file and line, for sentences.
    """

    key: str
    kind: str
    fields: dict[str, str]
    text: str
    where: str


def entries(text: str, file: str) -> dict[str, Entry]:
    """The entries of a file by their keys. What stands between entries is ignored, as BibTeX does.

    file: for sentences. Raises UserError, with file and line, on an entry that is not complete or has no key of its
    own, and on an abbreviation that no @string defines.
    """
    found: dict[str, Entry] = {}
    for entry in _Reader(text, file).entries():
        if entry.key in found:
            raise UserError(f"{entry.where}: the key {entry.key!r} is also that of {found[entry.key].where}")
        found[entry.key] = entry
    return found


class _Reader:
    """Reads a text from its start. place: index of the next character."""

    def __init__(self, text: str, file: str) -> None:
        self.text, self.file, self.place = text, file, 0
        self.strings: dict[str, str] = {month: month.capitalize() for month in MONTHS}

    def entries(self) -> Iterator[Entry]:
        while (start := self.text.find("@", self.place)) >= 0:
            self.place = start + 1
            where = self._where(start)
            kind = self._match(r"\s*(\w+)\s*").lower()
            opened = self._match(r"[{(]")
            if not kind or not opened:
                continue  # an @ in what is no entry, such as an address
            if kind in _IGNORED:
                self._enclosed(where, kind)
                continue
            key = "" if kind == "string" else self._key(where)
            fields, plain = self._fields(where, key or "the abbreviation", "}" if opened == "{" else ")")
            if kind == "string":
                self.strings |= fields
                continue
            text = self.text[start : self.place]
            yield Entry(key, kind, fields, text if plain else _written(kind, key, fields), where)

    def _where(self, place: int) -> str:
        line = self.text.count("\n", 0, place) + 1
        return f"{self.file}, line {line}"

    def _match(self, pattern: str) -> str:
        """The text that fits at the place, which is passed; empty if it does not fit."""
        match = re.compile(pattern).match(self.text, self.place)
        if match is None:
            return ""
        self.place = match.end()
        return match[match.lastindex or 0]

    def _key(self, where: str) -> str:
        key = self._match(r"\s*([^\s,{}()=\"]+)\s*(?=[,})])")
        if not key:
            raise UserError(f"{where}: the entry has no key: it begins with @TYPE{{KEY, ...")
        self._match(r",")
        return key

    def _fields(self, where: str, key: str, closing: str) -> tuple[dict[str, str], bool]:
        """Values by name up to the end of the entry, and whether they are written without abbreviations."""
        found: dict[str, str] = {}
        plain = True
        while True:
            self._match(r"[\s,]+")
            if self.text[self.place : self.place + 1] == closing:
                self.place += 1
                return found, plain
            here = self._where(self.place)
            name = self._match(rf"({_NAME})\s*=\s*")
            if not name:
                if self.place >= len(self.text):
                    raise UserError(f"{where}: {key} has no end: a brace or a quotation mark is not closed")
                raise UserError(f"{here}: {key}: expected NAME = {{value}} or the end of the entry")
            value, simple = self._value(where, key, name)
            plain = plain and simple
            found.setdefault(name.lower(), " ".join(value.split()))
            here = self._where(self.place)
            self._match(r"\s+")
            if self.text[self.place : self.place + 1] not in (",", closing, ""):
                raise UserError(f"{here}: {key}: a comma is missing after the value of {name}")

    def _value(self, where: str, key: str, name: str) -> tuple[str, bool]:
        """A value of parts that # joins, and whether none of them is an abbreviation."""
        parts, simple = [], True
        while True:
            if self._match(r"\{"):
                parts.append(self._enclosed(where, f"{name} of {key}"))
            elif self._match(r'"'):
                parts.append(self._enclosed(where, f"{name} of {key}", '"'))
            elif digits := self._match(r"\d+"):
                parts.append(digits)
            else:
                here = self._where(self.place)
                word = self._match(rf"({_NAME})")
                if word.lower() not in self.strings:
                    raise UserError(f"{here}: {key}: the value of {name} must stand in braces, {name} = {{value}}")
                simple = simple and word.lower() in MONTHS
                parts.append(self.strings[word.lower()])
            if not self._match(r"\s*#\s*"):
                return "".join(parts), simple and len(parts) == 1

    def _enclosed(self, where: str, what: str, closing: str = "}") -> str:
        """The text up to the brace or quotation mark that closes it."""
        start, depth = self.place, 0
        for match in re.compile(r'[{}"]').finditer(self.text, start):
            mark = match[0]
            if mark == closing and depth == 0:
                self.place = match.end()
                return self.text[start : match.start()]
            depth += {"{": 1, "}": -1}.get(mark, 0)
            if depth < 0:
                break
        raise UserError(f"{where}: the braces or quotation marks of {what} do not balance")


def _written(kind: str, key: str, fields: dict[str, str]) -> str:
    """An entry with its values written out."""
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items()]
    return "\n".join([f"@{kind}{{{key},", *lines, "}"])
