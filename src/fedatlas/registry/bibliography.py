"""The bibliography: BibTeX entries by key, and the same as references for reading."""

import functools
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from fedatlas.errors import UserError, nearest
from fedatlas.io.bibtex import Entry
from fedatlas.io.bibtex import entries as bibtex_entries
from fedatlas.registry import extensions

HERE = Path(__file__).parents[1]
PAPERS, DATA_SETS = "references.bib", "data/sources.bib"

_ACCENTS = dict(
    zip("\"'`^~=.vucHk", map(chr, (776, 769, 768, 770, 771, 772, 775, 780, 774, 807, 779, 808)), strict=True)
)
LETTERS = {
    "ss": "ß", "aa": "å", "AA": "Å", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ",
    "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "i": "i", "j": "j",
}  # fmt: skip


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


def entries() -> dict[str, Entry]:
    """BibTeX entries by key: papers and data sets of the atlas, then those of references.bib in the study's folder.

    Raises UserError if a file is not BibTeX in UTF-8, or a key stands for two entries.
    """
    return _entries(extensions.study().root)


@functools.cache
def _entries(root: Path | None) -> dict[str, Entry]:
    found: dict[str, Entry] = {}
    for file in (PAPERS, DATA_SETS):
        for key, entry in of_file(HERE / file, file).items():
            if key in found:
                raise UserError(f"{entry.where}: the key {key!r} is in another file, too")
            found[key] = entry
    if root is not None and (root / PAPERS).is_file():
        for key, entry in of_file(root / PAPERS, PAPERS).items():
            if key in found and (found[key].kind, found[key].fields) != (entry.kind, entry.fields):
                raise UserError(
                    f"{entry.where}: {key!r} is the key of another entry of the atlas, which `fedatlas cite {key}` "
                    "shows: give yours another key, or leave it out"
                )
            found.setdefault(key, entry)
    return found


def of_file(path: Path, name: str) -> dict[str, Entry]:
    """BibTeX entries of a file by key. name: of the file, for sentences. Raises UserError if it is not BibTeX."""
    try:
        return bibtex_entries(path.read_text(encoding="utf-8-sig"), name)
    except UnicodeDecodeError as error:
        raise UserError(f"{name} is not UTF-8: {error}") from None
    except OSError as error:
        raise UserError(f"{name} cannot be read: {error.strerror}") from None


def entry(key: str) -> Entry:
    """The entry of a key. Raises UserError, with a guess, if there is none."""
    if key not in entries():
        raise UserError(f"{PAPERS} has no entry {key!r}; add one{nearest(key, entries())}")
    return entries()[key]


def bibtex(keys: Iterable[str]) -> str:
    """BibTeX of keys, each once, sorted."""
    return "\n\n".join(entry(key).text for key in sorted(set(keys)))


def reference(key: str) -> Reference:
    """The reference of a key. Raises UserError, with a guess, if there is none."""
    found, where = entry(key).fields, entry(key).where
    if "title" not in found:
        raise UserError(f"{where}: the entry {key} has no title")
    names = [_name(author) for author in re.split(r"\s+and\s+", found["author"])] if "author" in found else []
    others = names[-1:] == [("", "others")]
    names = names[:-1] if others else names
    short = _short([last for _, last in names], others)
    return Reference(
        key=key,
        authors=", ".join([*(" ".join(filter(None, name)) for name in names), *(["et al."] if others else [])]),
        short=short or plain(found["title"]),
        title=plain(found["title"]),
        venue=_venue(found),
        year=found.get("year") or found.get("date", "")[:4],
        link=_link(found),
    )


def _short(last: list[str], others: bool) -> str:
    """Authors for a citation, from their last names. others: whether there are more than these."""
    return f"{last[0]} et al." if last and (others or len(last) > 2) else " & ".join(last)


def _link(found: dict[str, str]) -> str:
    """The address of a publication."""
    link = found.get("url", "")
    if "doi" in found:
        link = f"https://doi.org/{found['doi'].removeprefix('https://doi.org/')}"
    elif not link and "eprint" in found and "arxiv" in _archive(found):
        link = f"https://arxiv.org/abs/{found['eprint']}"
    return link if link.startswith(("https://", "http://")) else ""


def _archive(found: dict[str, str]) -> str:
    return found.get("archiveprefix", found.get("eprinttype", "")).lower()


def _venue(found: dict[str, str]) -> str:
    names = ("journal", "journaltitle", "booktitle", "publisher", "institution", "school", "howpublished")
    where = plain(next((found[name] for name in names if found.get(name)), ""))
    if not where and "arxiv" in _archive(found):
        where = f"arXiv:{found.get('eprint', '')}"
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


def plain(text: str, keep_braces: bool = False) -> str:
    """Text without TeX: accents as letters, dashes as such."""
    text = re.sub(
        r"\{?\\([\"'`^~=.vucHk])\s*\{?\\?([A-Za-z])\}?\}?",
        lambda match: unicodedata.normalize("NFC", match[2] + _ACCENTS[match[1]]),
        text,
    )
    text = re.sub(r"\\(ss|aa|AA|ae|AE|oe|OE|o|O|l|L|i|j)(?![A-Za-z])\s*", lambda match: LETTERS[match[1]], text)
    text = re.sub(r"\\(?:emph|text\w\w|url|href|mbox)(?=\{)", "", text)
    text = re.sub(r"\\([&%_#$])", r"\1", text).replace("---", "—").replace("--", "–").replace("~", " ")
    return text if keep_braces else text.replace("{", "").replace("}", "")
