"""BibTeX files: entries with their fields, as BibTeX reads them, and the lines of mistakes."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from fedatlas.errors import UserError

MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_NAME = r"[^\s\"#%'(),={}@]+"
_IGNORED = ("comment", "preamble")


@dataclass(frozen=True)
class BibtexEntry:
    """An entry of a bibliography.

    Attributes:
        key: Name of the entry.
        kind: Type of the publication, such as ``article``.
        fields: Values by name in small letters, with white space as one blank and without enclosing braces.
        text: The entry as BibTeX.
        location: File and line, for sentences.
    """

    key: str
    kind: str
    fields: dict[str, str]
    text: str
    location: str


def parse_entries(text: str, file: str) -> dict[str, BibtexEntry]:
    """Return the entries of a file by their keys. Text between entries is ignored, as by BibTeX.

    Args:
        text: Content of the file.
        file: Name of the file for sentences.

    Raises:
        UserError: An entry is incomplete or has no key, two entries have one key, or no @string defines an
            abbreviation. The sentence names file and line.
    """
    entries: dict[str, BibtexEntry] = {}
    for entry in _Reader(text, file).entries():
        if entry.key in entries:
            raise UserError(f"{entry.location}: the key {entry.key!r} is also that of {entries[entry.key].location}")
        entries[entry.key] = entry
    return entries


class _Reader:
    """Reader of a text from its start; ``position`` is the index of the next character."""

    def __init__(self, text: str, file: str) -> None:
        self.text, self.file, self.position = text, file, 0
        self.strings: dict[str, str] = {month: month.capitalize() for month in MONTHS}

    def entries(self) -> Iterator[BibtexEntry]:
        while (start := self.text.find("@", self.position)) >= 0:
            self.position = start + 1
            location = self._location(start)
            kind = self._match(r"\s*(\w+)\s*").lower()
            opening = self._match(r"[{(]")
            if not kind or not opening:
                continue  # an @ in what is not an entry, such as an address
            if kind in _IGNORED:
                self._enclosed(location, kind)
                continue
            key = "" if kind == "string" else self._key(location)
            fields, literal = self._fields(location, key or "the abbreviation", "}" if opening == "{" else ")")
            if kind == "string":
                self.strings |= fields
                continue
            text = self.text[start : self.position]
            yield BibtexEntry(key, kind, fields, text if literal else _format_entry(kind, key, fields), location)

    def _location(self, position: int) -> str:
        line = self.text.count("\n", 0, position) + 1
        return f"{self.file}, line {line}"

    def _match(self, pattern: str) -> str:
        """Return the text that matches at the position, and move behind it; empty if nothing matches."""
        match = re.compile(pattern).match(self.text, self.position)
        if match is None:
            return ""
        self.position = match.end()
        return match[match.lastindex or 0]

    def _key(self, location: str) -> str:
        key = self._match(r"\s*([^\s,{}()=\"]+)\s*(?=[,})])")
        if not key:
            raise UserError(f"{location}: the entry has no key: it begins with @TYPE{{KEY, ...")
        self._match(r",")
        return key

    def _fields(self, location: str, key: str, closing: str) -> tuple[dict[str, str], bool]:
        """Return values by name up to the end of the entry, and whether they use no abbreviations."""
        fields: dict[str, str] = {}
        literal = True
        while True:
            self._match(r"[\s,]+")
            if self.text[self.position : self.position + 1] == closing:
                self.position += 1
                return fields, literal
            line = self._location(self.position)
            name = self._match(rf"({_NAME})\s*=\s*")
            if not name:
                if self.position >= len(self.text):
                    raise UserError(f"{location}: {key} has no end: a brace or a quotation mark is not closed")
                raise UserError(f"{line}: {key}: expected NAME = {{value}} or the end of the entry")
            value, is_literal = self._value(location, key, name)
            literal = literal and is_literal
            fields.setdefault(name.lower(), " ".join(value.split()))
            line = self._location(self.position)
            self._match(r"\s+")
            if self.text[self.position : self.position + 1] not in (",", closing, ""):
                raise UserError(f"{line}: {key}: a comma is missing after the value of {name}")

    def _value(self, location: str, key: str, name: str) -> tuple[str, bool]:
        """Return a value of parts that # joins, and whether none of them is an abbreviation."""
        parts, literal = [], True
        while True:
            if self._match(r"\{"):
                parts.append(self._enclosed(location, f"{name} of {key}"))
            elif self._match(r'"'):
                parts.append(self._enclosed(location, f"{name} of {key}", '"'))
            elif digits := self._match(r"\d+"):
                parts.append(digits)
            else:
                line = self._location(self.position)
                word = self._match(rf"({_NAME})")
                if word.lower() not in self.strings:
                    raise UserError(f"{line}: {key}: the value of {name} must stand in braces, {name} = {{value}}")
                literal = literal and word.lower() in MONTHS
                parts.append(self.strings[word.lower()])
            if not self._match(r"\s*#\s*"):
                return "".join(parts), literal and len(parts) == 1

    def _enclosed(self, location: str, owner: str, closing: str = "}") -> str:
        """Return the text up to the brace or quotation mark that closes it."""
        start, depth = self.position, 0
        for match in re.compile(r'[{}"]').finditer(self.text, start):
            mark = match[0]
            if mark == closing and depth == 0:
                self.position = match.end()
                return self.text[start : match.start()]
            depth += {"{": 1, "}": -1}.get(mark, 0)
            if depth < 0:
                break
        raise UserError(f"{location}: the braces or quotation marks of {owner} do not balance")


def _format_entry(kind: str, key: str, fields: dict[str, str]) -> str:
    """Return an entry without abbreviations."""
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items()]
    return "\n".join([f"@{kind}{{{key},", *lines, "}"])
