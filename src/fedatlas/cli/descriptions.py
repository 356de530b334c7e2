"""What `fedatlas show` prints: all that is declared of a kind, a data set, an experiment, a paper or a record."""

import inspect
import textwrap
from collections.abc import Iterable, Mapping

from fedatlas.cli.overview import FAMILIES, RECORDS, Declared, check_extensions, default, known_options
from fedatlas.data import sources
from fedatlas.data.catalogue import Source
from fedatlas.errors import UserError, nearest
from fedatlas.federation.metrics.base import Metric
from fedatlas.io import terminal
from fedatlas.io.machine import size as memory
from fedatlas.registry import bibliography
from fedatlas.registry.extensions import location
from fedatlas.registry.options import Option, options
from fedatlas.workflow import listing, whereabouts
from fedatlas.workflow.atlas import Atlas
from fedatlas.workflow.project import here


def show(name: str) -> str:
    """All that is declared of a name: what it is, each option with range and default, what to cite.

    name: of a kind, a data set, an experiment, a publication of the bibliography, or a record such as ``setting``. All
    that have the name are shown. Raises UserError, with a guess, if nothing has it.
    """
    check_extensions()
    atlas = here()
    found = [_kind(section, name) for section, family in FAMILIES.items() if name in family.names()]
    found += [_data(sources.info(name))] if name in sources.names() else []
    found += [_experiment(atlas, name)] if name in atlas.paths else []
    found += [_publication(atlas, name)] if name in bibliography.entries() else []
    found += [_record(name)] if name in RECORDS else []
    if not found:
        raise UserError(f"there is no {name!r}{_guess(atlas, name)}")
    return "\n\n".join(found)


def names() -> list[str]:
    """All names that ``show`` knows, sorted."""
    kinds = {name for family in FAMILIES.values() for name in family.names()}
    return sorted(kinds | {*sources.names(), *here().paths, *bibliography.entries(), *RECORDS})


def _guess(atlas: Atlas, name: str) -> str:
    if where := whereabouts.sentence(atlas.files, name):
        return f": {where}"
    return f"{nearest(name, names())}; `fedatlas list` names all that there is"


def _width() -> int:
    return min(terminal.width(), 120)


def _filled(head: str, text: str) -> str:
    return terminal.beside(f"    {head}", text, columns=_width())


def _paragraph(text: str) -> str:
    return textwrap.fill(" ".join(text.split()), _width(), initial_indent="  ", subsequent_indent="  ")


def _table(about: Mapping[str, str], least: int = 14) -> list[str]:
    margin = max([least, *(len(key) + 1 for key, text in about.items() if text)])
    return [_filled(f"{key:<{margin}} ", text) for key, text in about.items() if text]


def _cited(entry: str) -> str:
    return textwrap.indent(entry, "  ")


def _noun(what: str, module: str) -> str:
    """What a kind is, and the file that declares it if that is an extension."""
    return ", ".join(filter(None, (what, location(module))))


def _kind(section: str, name: str) -> str:
    family = FAMILIES[section]
    kind: Declared = family.get(name)
    noun = _noun(family.what, family.module(name))
    if isinstance(kind, Metric):
        drawn = f"{'large' if kind.larger_is_better else 'small'} values are good; {kind.scale} scale"
        return f"{kind.name} ({noun})\n\n  {kind.words} {kind.symbol}".rstrip() + f"\n  {drawn}"
    aliases = "".join(f", also called {alias}" for alias in getattr(kind, "aliases", ()))
    lines = [f"{kind.name} ({noun}{aliases})", "", _docstring(kind), *_options(known_options(kind).values())]
    if cite := getattr(kind, "cite", None):
        lines += ["", _cited(bibliography.entry(cite).text)]
    return "\n".join(lines)


def _docstring(kind: type) -> str:
    """A docstring, whose paragraphs are filled where the terminal is narrower than the code."""
    text = textwrap.indent(inspect.getdoc(kind) or "", "  ")
    if max(map(len, text.splitlines()), default=0) <= _width():
        return text
    parts = [part if "\n  " in part.strip() else _paragraph(part) for part in text.split("\n\n")]
    return "\n\n".join(parts)


def _options(known: Iterable[Option]) -> list[str]:
    lines = []
    for one in known:
        value = "required" if one.required else f"default {default(one)}"
        value += f"; advised {one.advice}" if one.advice else ""
        lines.append(_filled(f"{one.name:<14} ", one.doc + (f" ({one.unit})" if one.unit else "")))
        lines.append(_filled(f"{'':<14} ", f"{one.expected}; {value}"))
    return ["", "  options:", *lines] if lines else []


def _record(name: str) -> str:
    cls = RECORDS[name]
    return "\n".join([f"{name} (part of an experiment file)", "", _docstring(cls), *_options(options(cls).values())])


def _data(source: Source) -> str:
    shape = " x ".join(map(str, source.shape))
    sparse = " (sparse)" if source.sparse else ""
    rows = f"{source.rows:,}" + (f" and {source.test_rows:,} to test" if source.test_rows else "")
    about = {
        "samples": rows,
        "shape": f"{shape}, {source.dtype}{sparse}",
        "classes": f"{source.classes}",
        "licence": source.licence,
        "page": source.page,
        "note": source.note,
    }
    lines = _table(about)
    lines += [_filled("file           ", f"{one.name}: {one.verified}") for form in source.forms for one in form.files]
    head = f"{source.name} ({_noun('data set', sources.home(source.name))})"
    return "\n".join([head, "", f"  {source.title}", "", *lines, "", _cited(source.bibtex)])


def _experiment(atlas: Atlas, name: str) -> str:
    one, size = listing.one(atlas, name), atlas.config["size"]
    size = size if size in one.sizes else next(iter(one.sizes), "smoke")
    whole = atlas.experiment(size, name)
    place = whole.file if one.is_own else f"{whole.file} of the atlas"
    about = {
        "paper": listing.paper(one.paper),
        "re-runs": one.source,
        "data": listing.data_words(one),
        "algorithms": ", ".join(whole.algorithms),
        **{f"size {size}": _took(took) for size, took in one.sizes.items()},
        "file": place,
        "command": f"fedatlas run {name} --size {size}",
    }
    lines = [f"{name} (experiment)", "", _paragraph(one.title), ""]
    lines += [_paragraph(whole.description), ""] if whole.description else []
    lines += _table(about)
    for head, texts in (
        ("figures", {key: figure.caption for key, figure in whole.figures.items()}),
        ("claims", {key: f"{claim.text} [{claim.source}]" for key, claim in whole.claims.items()}),
    ):
        if texts:
            lines += ["", f"  {head}:", *_table({key: " ".join(text.split()) for key, text in texts.items()})]
    notes = [
        textwrap.fill(" ".join(note.split()), _width(), initial_indent="    - ", subsequent_indent="      ")
        for note in whole.notes
    ]
    return "\n".join([*lines, *(["", "  notes:", *notes] if notes else [])])


def _took(took: listing.Took | None) -> str:
    if took is None:
        return "time not known"
    text = (
        f"{listing.duration(took)} of a processor, {'measured' if took.measured else 'estimated'}; {took.runs:,} runs"
    )
    return text + (f"; {memory(took.memory_mb * 1e6)} for the largest job" if took.memory_mb else "")


def _publication(atlas: Atlas, key: str) -> str:
    found = bibliography.reference(key)
    about = {"authors": found.authors, "venue": found.venue, "year": found.year, "link": found.link}
    about["experiments"] = ", ".join(one.name for one in listing.listed(atlas) if one.paper == key)
    lines = [f"{key} (publication)", "", _paragraph(found.title), "", *_table(about)]
    return "\n".join([*lines, "", _cited(bibliography.entry(key).text)])
