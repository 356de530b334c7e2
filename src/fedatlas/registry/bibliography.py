"""The bibliography: BibTeX entries by key, and the same as references for reading."""

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedatlas.errors import UserError, nearest
from fedatlas.io.files import read_text
from fedatlas.registry import extensions

if TYPE_CHECKING:
    from bibtexparser.middlewares import NameParts
    from bibtexparser.model import Entry

PACKAGE_FOLDER = Path(__file__).parents[1]
PAPERS, DATA_SETS = "references.bib", "data/sources.bib"


@dataclass(frozen=True)
class Reference:
    """A publication as plain text.

    Attributes:
        key: Key in the bibliography.
        authors: All authors, with initials.
        short: Words for a citation: the short title, which is the name of the paper's method, or names such as
            ``Malinovsky et al.``.
        title: Title.
        venue: Journal, proceedings or archive, with volume and pages.
        year: Year, or empty.
        link: Address, or empty.
    """

    key: str
    authors: str
    short: str
    title: str
    venue: str
    year: str
    link: str


def entries() -> "dict[str, Entry]":
    """Return BibTeX entries by key: papers and data sets of the atlas, then those of the study's references.bib.

    Raises:
        UserError: A file is not BibTeX in UTF-8, or a key stands for two entries.
    """
    return _entries(extensions.study())


@functools.cache
def _entries(root: Path | None) -> "dict[str, Entry]":
    entries: dict[str, Entry] = {}
    files = [PACKAGE_FOLDER / PAPERS, PACKAGE_FOLDER / DATA_SETS, *([root / PAPERS] if root is not None else [])]
    for file in filter(Path.exists, files):
        for key, entry in parse_entries(read_text(file), file.name).items():
            if entries.setdefault(key, entry).raw != entry.raw:
                raise UserError(
                    f"{file.name}: {key!r} is the key of another entry of the atlas, which `fedatlas cite {key}` "
                    "shows: give yours another key, or leave it out"
                )
    return entries


def parse_entries(text: str, file: str, stack: Iterable[Any] = ()) -> "dict[str, Entry]":
    """Return the BibTeX entries of a text by their keys.

    Args:
        text: Content of the file.
        file: Name of the file for sentences.
        stack: What bibtexparser makes of the values, which without it are as they stand in the text.

    Raises:
        UserError: An entry is not BibTeX, or two have one key. The sentence names file and line.
    """
    import bibtexparser  # not needed by a job that reads no bibliography

    library = bibtexparser.parse_string(text, parse_stack=stack)
    for block in library.failed_blocks:
        raise UserError(f"{file}, line {(block.start_line or 0) + 1}: {' '.join(str(block.error).split())}")
    return library.entries_dict


def entry(key: str) -> "Entry":
    """Return the entry of a key. Raise UserError, with a guess, if there is none."""
    if key not in entries():
        raise UserError(explain_missing(key))
    return entries()[key]


def explain_missing(key: str) -> str:
    """Return the sentence about a key that no entry has, with a guess at the key that was meant."""
    return f"{PAPERS} has no entry {key!r}; add one{nearest(key, entries())}"


def bibtex(keys: Iterable[str]) -> str:
    """Return the BibTeX of keys, without repetition, sorted."""
    return "\n\n".join(str(entry(key).raw) for key in sorted(set(keys)))


def reference(key: str) -> Reference:
    """Return the reference of a key. Raise UserError, with a guess, if there is none."""
    fields = _read(key)
    if "title" not in fields:
        raise UserError(f"{PAPERS}: the entry {key} has no title")
    names = [_initials_and_surname(name) for name in fields.get("author", ())]
    surnames = [surname for _, surname in names]
    if len(surnames) > 2 or "others" in surnames:
        short = f"{surnames[0]} et al."
    else:
        short = " & ".join(surnames)
    return Reference(
        key=key,
        authors=", ".join("et al." if name == ("", "others") else " ".join(filter(None, name)) for name in names),
        short=fields.get("shorttitle") or short or fields["title"],
        title=fields["title"],
        venue=_venue(fields),
        year=fields.get("year") or fields.get("date", "")[:4],
        link=_link(fields),
    )


def _read(key: str) -> dict[str, Any]:
    """Return the fields of an entry by name in small letters: plain text, and the parts of the authors' names."""
    from bibtexparser import middlewares

    stack = [
        middlewares.NormalizeFieldKeys(),
        middlewares.RemoveEnclosingMiddleware(),
        middlewares.LatexDecodingMiddleware(keep_braced_groups=True),  # which hold names together
        middlewares.SeparateCoAuthors(),
        middlewares.SplitNameParts(),
    ]
    fields = parse_entries(str(entry(key).raw), PAPERS, stack)[key].fields
    return {field.key: _plain(field.value) if isinstance(field.value, str) else field.value for field in fields}


def _initials_and_surname(name: "NameParts") -> tuple[str, str]:
    """Return the initials of a person, and the last name with what belongs to it."""
    return " ".join(f"{first[0]}." for first in name.first), _plain(" ".join([*name.von, *name.last, *name.jr]))


def _plain(text: str) -> str:
    return " ".join(text.replace("{", "").replace("}", "").split())


def _link(fields: dict[str, Any]) -> str:
    """Return the address of a publication, or an empty text."""
    link = fields.get("url", "")
    if "doi" in fields:
        link = f"https://doi.org/{fields['doi'].removeprefix('https://doi.org/')}"
    elif not link and "eprint" in fields and "arxiv" in _archive(fields):
        link = f"https://arxiv.org/abs/{fields['eprint']}"
    return link if link.startswith(("https://", "http://")) else ""


def _archive(fields: dict[str, Any]) -> str:
    return fields.get("archiveprefix", fields.get("eprinttype", "")).lower()


def _venue(fields: dict[str, Any]) -> str:
    names = ("journal", "journaltitle", "booktitle", "publisher", "institution", "school", "howpublished")
    venue = next((fields[name] for name in names if fields.get(name)), "")
    if not venue and "arxiv" in _archive(fields):
        venue = f"arXiv:{fields.get('eprint', '')}"
    if "volume" in fields:
        venue += ", PMLR" if "Machine Learning Research" in fields.get("series", "") else ""
        venue += f" {fields['volume']}" + (f"({fields['number']})" if "number" in fields else "")
    return venue + (f", {fields['pages']}" if "pages" in fields else "")


def describe_paper(key: str) -> str:
    """Return authors, year and title of a paper; its key if the bibliography does not have it."""
    try:
        entry = reference(key)
    except UserError:
        return key or "No paper"
    return f"{entry.short} {entry.year}: {entry.title}"
