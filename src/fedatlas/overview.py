"""What the atlas holds, for ``fedatlas list``, ``fedatlas show`` and the reference of options."""

import csv
import inspect
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fedatlas import extensions, problems
from fedatlas.algorithms import ALGORITHMS
from fedatlas.architectures import ARCHITECTURES
from fedatlas.checks import CHECKS
from fedatlas.checks.judging import COLUMNS
from fedatlas.costs import COST_MODELS
from fedatlas.csv_files import unguarded
from fedatlas.data import own, sources
from fedatlas.data.catalogue import SOURCES, Source
from fedatlas.data.readers import READERS
from fedatlas.errors import UserError, did_you_mean
from fedatlas.experiments.cells import Select
from fedatlas.experiments.claim import Claim
from fedatlas.experiments.specification import Entry, Experiment
from fedatlas.extensions import place, placed
from fedatlas.figures import FIGURES
from fedatlas.kinds import Family, Kind, first_paragraph
from fedatlas.metrics import METRICS
from fedatlas.metrics.base import Metric
from fedatlas.options import Option, options
from fedatlas.participation import PARTICIPATION
from fedatlas.partitions import PARTITIONS
from fedatlas.problems import PROBLEMS, ProblemKind
from fedatlas.schedules import SCHEDULES
from fedatlas.simulation.sampling import SAMPLING, Sampler
from fedatlas.simulation.setting import Setting

FAMILIES: dict[str, Family[Any]] = {
    "algorithms": ALGORITHMS,
    "problems": PROBLEMS,
    "architectures": ARCHITECTURES,
    "partitions": PARTITIONS,
    "participation": PARTICIPATION,
    "schedules": SCHEDULES,
    "sampling": SAMPLING,
    "readers": READERS,
    "cost models": COST_MODELS,
    "figures": FIGURES,
    "checks": CHECKS,
    "metrics": METRICS,
}
RECORDS = {
    "experiments": Experiment,
    "algorithms of an experiment": Entry,
    "select": Select,
    "claims": Claim,
    "setting": Setting,
    "own data": own.Entry,
}
SHARED = {"figures": "A figure of an experiment also has a `caption`, which the report shows."}
SECTIONS = (*FAMILIES, "data", "experiments")
Declared = type[Kind] | type[Sampler] | Metric


def check_extensions() -> None:
    """Raise UserError if an extension cannot be imported, or a kind has the name of another one or is not sound."""
    if extensions.modules():
        for family in (*FAMILIES.values(), SOURCES):
            _ = family.added


def overview(what: str | None = None) -> dict[str, list[tuple[str, str]]]:
    """Sections (one if ``what`` names it) of (name, one line) pairs."""
    return {name: list(_lines(name)) for name in SECTIONS if what in (None, name)}


def _lines(section: str) -> Iterator[tuple[str, str]]:
    if section == "data":
        yield from ((name, placed(sources.info(name).title, sources.home(name))) for name in sources.names())
    elif section == "experiments":
        from fedatlas.workflow.project import here

        files = here().files
        for name in files.paths:
            found = files.document(name)
            title = found.get("title", "") if isinstance(found, dict) else ""
            yield name, f"{title} (of the atlas)" if name not in files.own else title
    else:
        family = FAMILIES[section]
        yield from ((name, placed(_summary(family.get(name)), family.module(name))) for name in family.names())


def _summary(kind: Declared) -> str:
    if isinstance(kind, Metric):
        return kind.words
    given = [name if one.required else f"{name}={default(one)}" for name, one in _known(kind).items()]
    return f"{first_paragraph(kind)} [{', '.join(given)}]" if given else first_paragraph(kind)


def _known(kind: type) -> Mapping[str, Option]:
    """All options that a specification of a kind may have besides ``kind``."""
    if issubclass(kind, ProblemKind):
        return problems.known(kind)
    return kind.options() if issubclass(kind, Kind) else {}


def default(one: Option) -> str:
    if one.constant:
        return f"the problem's {one.constant}"
    value = one.default() if callable(one.default) else one.default
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def show(name: str) -> str:
    """All that is declared of a kind or data set: what it is, each option with range and default, what to cite.

    Raises UserError, with a guess, if nothing has this name.
    """
    check_extensions()
    found = [_shown(section, name) for section, family in FAMILIES.items() if name in family.names()]
    found += [_shown_data(sources.info(name))] if name in sources.names() else []
    if not found:
        every = sorted({one for family in FAMILIES.values() for one in family.names()} | set(sources.names()))
        raise UserError(f"there is no {name!r}{did_you_mean(name, every)}")
    return "\n\n".join(found)


def _shown_data(source: Source) -> str:
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
    lines = [_filled(f"{key:<14} ", text) for key, text in about.items() if text]
    lines += [_filled("file           ", f"{one.name}: {one.verified}") for form in source.forms for one in form.files]
    head = f"{source.name} ({_noun('data set', sources.home(source.name))})"
    return "\n".join([head, "", f"  {source.title}", "", *lines, "", _cited(source.bibtex)])


def _filled(head: str, text: str) -> str:
    """Lines of text beside a head."""
    return textwrap.fill(text, 110, initial_indent=f"    {head}", subsequent_indent=" " * (4 + len(head)))


def _cited(entry: str) -> str:
    return textwrap.indent(entry, "  ")


def _noun(what: str, module: str) -> str:
    """What a kind is, and the file that declares it if that is an extension."""
    return ", ".join(filter(None, (what, place(module))))


def _shown(section: str, name: str) -> str:
    family = FAMILIES[section]
    kind: Declared = family.get(name)
    noun = _noun(family.what, family.module(name))
    if isinstance(kind, Metric):
        drawn = f"{'large' if kind.larger_is_better else 'small'} values are good; {kind.scale} scale"
        return f"{kind.name} ({noun})\n\n  {kind.words} {kind.symbol}".rstrip() + f"\n  {drawn}"
    lines = [f"{kind.name} ({noun})", "", textwrap.indent(inspect.getdoc(kind) or "", "  ")]
    if known := _known(kind):
        lines += ["", "  options:"]
        for one in known.values():
            given = "required" if one.required else f"default {default(one)}"
            given += f"; advised {one.advice}" if one.advice else ""
            lines.append(_filled(f"{one.name:<14} ", one.doc + (f" ({one.unit})" if one.unit else "")))
            lines.append(_filled(f"{'':<14} ", f"{one.expected}; {given}"))
    if cite := getattr(kind, "cite", None):
        from fedatlas.bibliography import entry

        lines += ["", _cited(entry(cite).text)]
    return "\n".join(lines)


def reference() -> str:
    """The reference of all options as Markdown: docs/reference/options.md."""
    parts = [
        "# Options",
        "Every option of every kind, as it is declared in the code. `make reference` writes this page and the schema "
        "of experiment files; `fedatlas show NAME` prints one kind with its docstring and citation.",
        "## Experiment files",
    ]
    parts += [f"### {name}\n\n{_table(options(cls))}" for name, cls in RECORDS.items()]
    for section, family in FAMILIES.items():
        parts.append(f"## {section.capitalize()}" + (f"\n\n{SHARED[section]}" if section in SHARED else ""))
        if family.records:
            rows = [f"| `{name}` | {family.get(name).words} |" for name in family.names()]
            parts.append("\n".join(["| name | meaning |", "|---|---|", *rows]))
            continue
        for cls in dict.fromkeys(family.get(name) for name in family.names()):
            names = " or ".join(f"`{name}`" for name in (cls.name, *getattr(cls, "aliases", ())))
            table = f"\n\n{_table(known)}" if (known := _known(cls)) else ""
            parts.append(f"### {names}\n\n{_plain(first_paragraph(cls))}{table}")
    return "\n\n".join(parts) + "\n"


def _table(known: Mapping[str, Option]) -> str:
    rows = ["| option | meaning | value | default |", "|---|---|---|---|"]
    for one in known.values():
        meaning = one.doc + (f" ({one.unit})" if one.unit else "")
        given = "" if one.required else f"`{default(one)}`"
        given = f"advised: `{one.advice}`" if one.advice else given
        rows.append(f"| `{one.name}` | {_plain(meaning)} | {_plain(one.expected)} | {given} |")
    return "\n".join(rows)


def _plain(text: str) -> str:
    """Text that Markdown shows as it is."""
    for mark in ("|", "*", "_", "<"):
        text = text.replace(mark, f"\\{mark}")
    return text


def _claims(path: Path) -> list[dict[str, str]]:
    """The rows of a claims.csv. Raises UserError if the file is not one."""
    try:
        with open(path, newline="", encoding="utf-8") as file:
            rows = [{name: unguarded(text) for name, text in row.items()} for row in csv.DictReader(file)]
    except (OSError, ValueError, csv.Error) as error:
        raise UserError(f"{path} cannot be read: {error}") from None
    if any(row.get(name) is None for row in rows for name in COLUMNS):
        raise UserError(f"{path} holds no claims of fedatlas: it lacks columns or cells")
    return rows


def verdicts(results: str | Path = "results") -> list[dict[str, str]]:
    """All claims with verdicts under a results folder, each once. Raises UserError if there are none."""
    found: dict[tuple[str, ...], dict[str, str]] = {}
    for path in sorted(Path(results).glob("*/*/claims.csv")):
        for row in _claims(path):
            found.setdefault((row["experiment"], row["size"], row["claim"]), row)
    if not found:
        raise UserError(f"no claims under {results}/: run `snakemake --cores 2` first")
    return list(found.values())
