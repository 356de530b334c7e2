"""The bibliography: BibTeX entries by key, and the same as references for reading."""

import functools
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from fedatlas.errors import UserError, nearest
from fedatlas.io.text import read_text
from fedatlas.registry import extensions

PACKAGE_FOLDER = Path(__file__).parents[1]
PAPERS, DATA_SETS = "references.bib", "data/sources.bib"

_ACCENTS = dict(
    zip("\"'`^~=.vucHk", map(chr, (776, 769, 768, 770, 771, 772, 775, 780, 774, 807, 779, 808)), strict=True)
)
LETTERS = {
    "ss": "ß", "aa": "å", "AA": "Å", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ",
    "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "i": "i", "j": "j",
}  # fmt: skip

LETTERS_OF_VENUES = {
    "Advances in Neural Information Processing Systems": "NeurIPS",
    "International Conference on Artificial Intelligence and Statistics": "AISTATS",
    "International Conference on Learning Representations": "ICLR",
    "International Conference on Machine Learning": "ICML",
    "Transactions on Machine Learning Research": "TMLR",
    "Journal of Machine Learning Research": "JMLR",
}


_FIELD = re.compile(r'[\s,]*([\w-]+)\s*=\s*(?:(\{)|"([^"]*)"|(\w+))', re.DOTALL)


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

    @property
    def meeting(self) -> str:
        """The venue by its usual letters, without volume and pages, and the year: ``NeurIPS 2020``."""
        name = re.split(r",| \d", self.venue)[0]
        return f"{LETTERS_OF_VENUES.get(name, name)} {self.year}".strip()


def entries() -> dict[str, BibtexEntry]:
    """Return BibTeX entries by key: papers and data sets of the atlas, then those of the study's references.bib.

    Raises:
        UserError: A file is not BibTeX in UTF-8, or a key stands for two entries.
    """
    return _entries(extensions.study().root)


@functools.cache
def _entries(root: Path | None) -> dict[str, BibtexEntry]:
    entries: dict[str, BibtexEntry] = {}
    for file in (PAPERS, DATA_SETS):
        for key, entry in parse_entries(read_text(PACKAGE_FOLDER / file), file).items():
            if key in entries:
                raise UserError(f"{entry.location}: the key {key!r} is in another file, too")
            entries[key] = entry
    if root is not None and (root / PAPERS).exists():
        for key, entry in parse_entries(read_text(root / PAPERS), PAPERS).items():
            if key in entries and (entries[key].kind, entries[key].fields) != (entry.kind, entry.fields):
                raise UserError(
                    f"{entry.location}: {key!r} is the key of another entry of the atlas, which `fedatlas cite {key}` "
                    "shows: give yours another key, or leave it out"
                )
            entries.setdefault(key, entry)
    return entries


def parse_entries(text: str, file: str) -> dict[str, BibtexEntry]:
    """Return the entries ``@TYPE{KEY, NAME = {value}, ...}`` of a text by their keys.

    A value stands in braces or quotation marks, or is a word or a number. Text between entries is ignored.

    Args:
        text: Content of the file.
        file: Name of the file for sentences.

    Raises:
        UserError: An entry has no end, a value does not stand in braces, or two entries have one key. The sentence
            names file and line.
    """
    entries: dict[str, BibtexEntry] = {}
    end = 0
    for match in re.finditer(r"@\s*(\w+)\s*\{\s*([^\s,{}=]+)\s*,", text):
        if match.start() < end or match[1].lower() in ("comment", "string", "preamble"):
            continue
        key, location = match[2], f"{file}, line {_line(text, match.start())}"
        end = _closing(text, match.end(), f"{location}: {key} has no end: a brace is not closed")
        fields: dict[str, str] = {}
        position = match.end()
        while text[position : end - 1].strip(" \t\r\n,"):
            field = _FIELD.match(text, position, end)
            if field is None:
                raise UserError(f"{file}, line {_line(text, position)}: {key}: expected NAME = {{value}}")
            value, position = field[3] or field[4] or "", field.end()
            if field[2]:
                position = _closing(text, field.end(), f"{location}: {key} has no end: a brace is not closed")
                value = text[field.end() : position - 1]
            fields.setdefault(field[1].lower(), " ".join(value.split()))
        if key in entries:
            raise UserError(f"{location}: the key {key!r} is also that of {entries[key].location}")
        entries[key] = BibtexEntry(key, match[1].lower(), fields, text[match.start() : end], location)
    return entries


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def _closing(text: str, start: int, fault: str) -> int:
    """Return the position behind the brace that closes the one before a position. Raise UserError if none does."""
    depth = 1
    for match in re.finditer(r"[{}]", text[start:]):
        depth += 1 if match[0] == "{" else -1
        if not depth:
            return start + match.end()
    raise UserError(fault)


def entry(key: str) -> BibtexEntry:
    """Return the entry of a key. Raise UserError, with a guess, if there is none."""
    if key not in entries():
        raise UserError(explain_missing(key))
    return entries()[key]


def explain_missing(key: str) -> str:
    """Return the sentence about a key that no entry has, with a guess at the key that was meant."""
    return f"{PAPERS} has no entry {key!r}; add one{nearest(key, entries())}"


def bibtex(keys: Iterable[str]) -> str:
    """Return the BibTeX of keys, without repetition, sorted."""
    return "\n\n".join(entry(key).text for key in sorted(set(keys)))


def reference(key: str) -> Reference:
    """Return the reference of a key. Raise UserError, with a guess, if there is none."""
    fields, location = entry(key).fields, entry(key).location
    if "title" not in fields:
        raise UserError(f"{location}: the entry {key} has no title")
    names = [_name(author) for author in re.split(r"\s+and\s+", fields["author"])] if "author" in fields else []
    et_al = names[-1:] == [("", "others")]
    names = names[:-1] if et_al else names
    surnames = [surname for _, surname in names]
    if surnames and (et_al or len(surnames) > 2):
        short = f"{surnames[0]} et al."
    else:
        short = " & ".join(surnames)
    return Reference(
        key=key,
        authors=", ".join([*(" ".join(filter(None, name)) for name in names), *(["et al."] if et_al else [])]),
        short=plain(fields.get("shorttitle", "")) or short or plain(fields["title"]),
        title=plain(fields["title"]),
        venue=_venue(fields),
        year=fields.get("year") or fields.get("date", "")[:4],
        link=_link(fields),
    )


def _link(fields: dict[str, str]) -> str:
    """Return the address of a publication, or an empty text."""
    link = fields.get("url", "")
    if "doi" in fields:
        link = f"https://doi.org/{fields['doi'].removeprefix('https://doi.org/')}"
    elif not link and "eprint" in fields and "arxiv" in _archive(fields):
        link = f"https://arxiv.org/abs/{fields['eprint']}"
    return link if link.startswith(("https://", "http://")) else ""


def _archive(fields: dict[str, str]) -> str:
    return fields.get("archiveprefix", fields.get("eprinttype", "")).lower()


def _venue(fields: dict[str, str]) -> str:
    names = ("journal", "journaltitle", "booktitle", "publisher", "institution", "school", "howpublished")
    venue = plain(next((fields[name] for name in names if fields.get(name)), ""))
    if not venue and "arxiv" in _archive(fields):
        venue = f"arXiv:{fields.get('eprint', '')}"
    if "volume" in fields:
        venue += ", PMLR" if "Machine Learning Research" in fields.get("series", "") else ""
        venue += f" {fields['volume']}" + (f"({fields['number']})" if "number" in fields else "")
    return venue + (f", {plain(fields['pages'])}" if "pages" in fields else "")


def _name(author: str) -> tuple[str, str]:
    """Return (initials, last name) of ``Last, First`` or ``First Last``."""
    author = plain(author, keep_braces=author.startswith("{"))
    last, _, first = author.partition(", ")
    if author.startswith("{"):
        last, _, first = author[1:].partition("}, ")
    elif not first:
        first, _, last = author.rpartition(" ")
    initials = [part[0] + "." for part in re.split(r"[\s]+", first) if part]
    return " ".join(initials), last.strip("{}")


def plain(text: str, keep_braces: bool = False) -> str:
    """Return text without TeX: accented letters and dashes in Unicode."""
    text = re.sub(
        r"\{?\\([\"'`^~=.vucHk])\s*\{?\\?([A-Za-z])\}?\}?",
        lambda match: unicodedata.normalize("NFC", match[2] + _ACCENTS[match[1]]),
        text,
    )
    text = re.sub(r"\\(ss|aa|AA|ae|AE|oe|OE|o|O|l|L|i|j)(?![A-Za-z])\s*", lambda match: LETTERS[match[1]], text)
    text = re.sub(r"\\(?:emph|text\w\w|url|href|mbox)(?=\{)", "", text)
    text = re.sub(r"\\([&%_#$])", r"\1", text).replace("---", "—").replace("--", "–").replace("~", " ")
    return text if keep_braces else text.replace("{", "").replace("}", "")
