"""The bibliography: BibTeX entries by key, and the same as references for reading."""

import functools
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from fedatlas.errors import UserError, lookup

PAPERS, DATA_SETS = "references.bib", "data/sources.bib"

_ACCENTS = dict(
    zip("\"'`^~=.vucHk", map(chr, (776, 769, 768, 770, 771, 772, 775, 780, 774, 807, 779, 808)), strict=True)
)


@dataclass(frozen=True)
class Reference:
    """A publication as plain text. short: names for a citation, such as ``Yuan & Ma``. link: an address, or nothing."""

    key: str
    authors: str
    short: str
    title: str
    venue: str
    year: str
    link: str


@functools.cache
def entries() -> dict[str, str]:
    """BibTeX entries by key: papers and data sets."""
    found: dict[str, str] = {}
    for file in (PAPERS, DATA_SETS):
        for key, entry in of_file(file).items():
            if found.setdefault(key, entry) is not entry:
                raise UserError(f"{file}: the key {key!r} is in another file, too")
    return found


def of_file(file: str) -> dict[str, str]:
    """BibTeX entries of a file of the package by key. Raises UserError if an entry has no key of its own."""
    found: dict[str, str] = {}
    try:
        text = (Path(__file__).parent / file).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UserError(f"{file} is not UTF-8: {error}") from error
    for entry in text.strip().split("\n\n"):
        match = re.match(r"@\w+\{([^,\s]+),", entry)
        if match is None or match[1] in found:
            raise UserError(f"{file}: an entry has no key of its own: {entry[:60]}")
        found[match[1]] = entry
    return found


def entry(key: str) -> str:
    """BibTeX of a key. Raises UserError, with a guess, if there is none."""
    return lookup("reference", key, entries())


def bibtex(keys: Iterable[str]) -> str:
    """BibTeX of keys, each once, sorted."""
    return "\n\n".join(entry(key) for key in sorted(set(keys)))


def reference(key: str) -> Reference:
    """The reference of a key. Raises UserError, with a guess, if there is none."""
    found = fields(entry(key))
    names = [_name(author) for author in re.split(r"\s+and\s+", found["author"])] if "author" in found else []
    link = f"https://doi.org/{found['doi']}" if "doi" in found else found.get("url", "")
    link = link if link.startswith(("https://", "http://")) else ""
    return Reference(
        key=key,
        authors=", ".join(" ".join(filter(None, name)) for name in names),
        short=_short([last for _, last in names]) or plain(found["title"]),
        title=plain(found["title"]),
        venue=_venue(found),
        year=found.get("year", ""),
        link=link,
    )


def _short(last: list[str]) -> str:
    """Authors for a citation, from their last names."""
    return f"{last[0]} et al." if len(last) > 2 else " & ".join(last)


def _venue(found: dict[str, str]) -> str:
    where = found.get("journal") or found.get("booktitle") or found.get("publisher") or found.get("institution")
    where = plain(where or found.get("howpublished", ""))
    if "volume" in found:
        where += ", PMLR" if "Machine Learning Research" in found.get("series", "") else ""
        where += f" {found['volume']}" + (f"({found['number']})" if "number" in found else "")
    return where + (f", {plain(found['pages'])}" if "pages" in found else "")


def _name(author: str) -> tuple[str, str]:
    """(initials, last name) of ``Last, First`` or ``First Last``."""
    author = plain(author, keep_braces=author.startswith("{"))
    last, _, first = author.partition(", ")
    if author.startswith("{"):
        last, _, first = author[1:].partition("}, ")
    elif not first:
        first, _, last = author.rpartition(" ")
    initials = [part[0] + "." for part in re.split(r"[\s]+", first) if part]
    return " ".join(initials), last.strip("{}")


def fields(text: str) -> dict[str, str]:
    """Fields of a BibTeX entry, by name. Raises UserError if the braces of a value do not balance."""
    found = {}
    for match in re.finditer(r"^\s*(\w+)\s*=\s*\{", text, re.MULTILINE):
        depth, end = 1, match.end()
        while depth:
            if end == len(text):
                raise UserError(f"BibTeX: the braces of {match[1]} do not balance: {text[:60]}")
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        found[match[1].lower()] = " ".join(text[match.end() : end - 1].split())
    return found


def plain(text: str, keep_braces: bool = False) -> str:
    """Text without TeX: accents as letters, dashes as such."""
    text = re.sub(
        r"\{?\\([\"'`^~=.vucHk])\s*\{?\\?([A-Za-z])\}?\}?",
        lambda match: unicodedata.normalize("NFC", match[2] + _ACCENTS[match[1]]),
        text,
    )
    text = re.sub(r"\\([&%_#$])", r"\1", text).replace("--", "–")
    return text if keep_braces else text.replace("{", "").replace("}", "")
