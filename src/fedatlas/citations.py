"""What to cite: BibTeX of algorithms, experiments and data sets, and the same for reading."""

import functools
import re
import unicodedata
from pathlib import Path

from fedatlas import algorithms
from fedatlas.data import sources
from fedatlas.data.bibliography import bibliography
from fedatlas.registry import lookup

PAPERS = ("yuan2020", "xiang2024", "jiang2024", "mukherjee2024", "sun2023")

_ACCENTS = dict(
    zip("\"'`^~=.vucHk", map(chr, (776, 769, 768, 770, 771, 772, 775, 780, 774, 807, 779, 808)), strict=True)
)


@functools.cache
def entries():
    """BibTeX entries by key: the papers of references.bib and the data sets' of data/sources.bib."""
    found = dict(bibliography())
    for entry in Path(__file__).with_name("references.bib").read_text(encoding="utf-8").strip().split("\n\n"):
        key = re.match(r"@\w+\{([^,\s]+),", entry)[1]
        if key in found:
            raise ValueError(f"references.bib: the key {key!r} appears twice")
        found[key] = entry
    return found


def entry(key):
    """BibTeX of a key. Raises UserError, with a guess, if there is none."""
    return lookup("reference", key, entries())


def bibtex(keys):
    """BibTeX of keys, each once, sorted."""
    return "\n\n".join(entry(key) for key in sorted(set(keys)))


def cite(names=(), experiments=()):
    """BibTeX for names of algorithms, data sets, references and loaded experiments; without names, of the five papers.

    experiments: loaded experiments that may be named; one stands for its paper, its algorithms and its data. Raises
    UserError on any other name.
    """
    known = {key: [key] for key in entries()}
    known |= {name: [sources.info(name).citation] for name in sources.names()}
    known |= {name: list(filter(None, [getattr(algorithms.get(name), "cite", None)])) for name in algorithms.names()}
    known |= {experiment["name"]: keys(experiment) for experiment in experiments}
    return bibtex(key for name in names or PAPERS for key in lookup("name", name, known))


def keys(experiment):
    """Keys of an experiment: its paper, its algorithms, its data, each once. A new algorithm may have none."""
    classes = [algorithms.get(entry.get("algorithm", id)) for id, entry in experiment["algorithms"].items()]
    names = [name for name in (experiment["problem"].get(key) for key in ("data", "test")) if name]
    found = [experiment["paper"], *(getattr(cls, "cite", None) for cls in classes)]
    return list(dict.fromkeys(filter(None, [*found, *(sources.info(name).citation for name in names)])))


def reference(key):
    """A reference for reading: ``{"key", "authors", "short", "title", "venue", "year", "link"}`` as plain text."""
    found = fields(entry(key))
    names = [_name(author) for author in re.split(r"\s+and\s+", found.get("author", ""))] if "author" in found else []
    last = [name[1] for name in names]
    short = "" if not last else last[0] if len(last) == 1 else f"{last[0]} & {last[1]}" if len(last) == 2 else None
    where = found.get("journal") or found.get("booktitle") or found.get("publisher") or found.get("institution")
    where = plain(where or found.get("howpublished", ""))
    if "volume" in found:
        where += ", PMLR" if "Machine Learning Research" in found.get("series", "") else ""
        where += f" {found['volume']}" + (f"({found['number']})" if "number" in found else "")
    if "pages" in found:
        where += f", {plain(found['pages'])}"
    link = f"https://doi.org/{found['doi']}" if "doi" in found else found.get("url", "")
    return {
        "key": key,
        "authors": ", ".join(" ".join(filter(None, name)) for name in names),
        "short": f"{last[0]} et al." if short is None else short or plain(found["title"]),
        "title": plain(found["title"]),
        "venue": where,
        "year": found.get("year", ""),
        "link": link,
    }


def _name(author):
    """(initials, last name) of ``Last, First`` or ``First Last``."""
    author = plain(author, keep_braces=author.startswith("{"))
    last, _, first = author.partition(", ")
    if author.startswith("{"):
        last, _, first = author[1:].partition("}, ")
    elif not first:
        first, _, last = author.rpartition(" ")
    initials = [part[0] + "." for part in re.split(r"[\s]+", first) if part]
    return " ".join(initials), last.strip("{}")


def fields(text):
    """Fields of a BibTeX entry, by name. Values are in braces that balance."""
    found = {}
    for match in re.finditer(r"^\s*(\w+)\s*=\s*\{", text, re.MULTILINE):
        depth, end = 1, match.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        found[match[1].lower()] = " ".join(text[match.end() : end - 1].split())
    return found


def plain(text, keep_braces=False):
    """Text without TeX: accents as letters, dashes as such."""
    text = re.sub(
        r"\{?\\([\"'`^~=.vucHk])\s*\{?\\?([A-Za-z])\}?\}?",
        lambda match: unicodedata.normalize("NFC", match[2] + _ACCENTS[match[1]]),
        text,
    )
    text = re.sub(r"\\([&%_#$])", r"\1", text).replace("--", "–")
    return text if keep_braces else text.replace("{", "").replace("}", "")
