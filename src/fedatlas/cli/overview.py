"""What the atlas holds, for ``fedatlas list`` and the reference of options."""

from collections.abc import Iterator, Mapping
from typing import Any

from fedatlas.data import sources
from fedatlas.data.catalogue import SOURCES
from fedatlas.data.custom import CustomKeys
from fedatlas.data.readers import READERS
from fedatlas.experiments.cells import Select
from fedatlas.experiments.claim import Claim
from fedatlas.experiments.specification import Entry, Experiment
from fedatlas.federation import problems
from fedatlas.federation.algorithms import ALGORITHMS
from fedatlas.federation.architectures import ARCHITECTURES
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.metrics import METRICS
from fedatlas.federation.metrics.base import Metric
from fedatlas.federation.participation import PARTICIPATION
from fedatlas.federation.partitions import PARTITIONS
from fedatlas.federation.problems import PROBLEMS, ProblemKind
from fedatlas.federation.sampling import SAMPLING
from fedatlas.federation.schedules import SCHEDULES
from fedatlas.federation.topologies import TOPOLOGIES
from fedatlas.io import terminal
from fedatlas.registry import extensions
from fedatlas.registry.extensions import describe
from fedatlas.registry.kinds import Family, Kind, first_paragraph
from fedatlas.registry.options import Option, options
from fedatlas.results.claims import CHECKS
from fedatlas.results.costs import COST_MODELS
from fedatlas.results.figures import FIGURES

FAMILIES: dict[str, Family[Any]] = {
    "algorithms": ALGORITHMS,
    "problems": PROBLEMS,
    "architectures": ARCHITECTURES,
    "partitions": PARTITIONS,
    "participation": PARTICIPATION,
    "schedules": SCHEDULES,
    "sampling": SAMPLING,
    "topologies": TOPOLOGIES,
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
    "own data": CustomKeys,
}
SHARED = {"figures": "A figure of an experiment also has a `caption`, which the report shows."}
SECTIONS = (*FAMILIES, "data", "experiments")
Declared = type[Kind] | Metric


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
        yield from ((name, describe(sources.info(name).title, sources.home(name))) for name in sources.names())
    elif section == "experiments":
        from fedatlas.workflow.listing import listed
        from fedatlas.workflow.project import here

        yield from ((one.name, one.title if one.is_own else f"{one.title} (of the atlas)") for one in listed(here()))
    else:
        family = FAMILIES[section]
        yield from ((name, describe(_summary(family.get(name)), family.module(name))) for name in family.names())


def lines(sections: Mapping[str, list[tuple[str, str]]]) -> Iterator[str]:
    """Sections for people, in lines of the width of the terminal."""
    for section, entries in sections.items():
        yield f"{section}:"
        yield from (terminal.beside(f"  {name:<18} ", text, 21) for name, text in entries)
        yield ""


def as_json(what: str | None = None) -> dict[str, list[dict[str, Any]]]:
    """The sections in JSON types: names with a text, experiments with all that a list shows of them."""
    from fedatlas.workflow.listing import listed
    from fedatlas.workflow.project import here

    return {
        section: [one.plain() for one in listed(here())]
        if section == "experiments"
        else [{"name": name, "text": text} for name, text in _lines(section)]
        for section in SECTIONS
        if what in (None, section)
    }


def _summary(kind: Declared) -> str:
    if isinstance(kind, Metric):
        return kind.words
    given = [name if one.required else f"{name}={default(one)}" for name, one in known_options(kind).items()]
    return f"{first_paragraph(kind)} [{', '.join(given)}]" if given else first_paragraph(kind)


def known_options(kind: type) -> Mapping[str, Option]:
    """All options that a specification of a kind may have besides ``kind``."""
    if issubclass(kind, ProblemKind):
        return problems.spec_options(kind)
    return kind.options() if issubclass(kind, Kind) else {}


def default(one: Option) -> str:
    if one.constant:
        return f"the problem's {one.constant}"
    value = one.default() if callable(one.default) else one.default
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


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
            table = f"\n\n{_table(known)}" if (known := known_options(cls)) else ""
            parts.append(f"### {names}\n\n{_plain(first_paragraph(cls))}{table}")
    return "\n\n".join(parts) + "\n"


def _table(known: Mapping[str, Option]) -> str:
    rows = ["| option | meaning | value | default |", "|---|---|---|---|"]
    for one in known.values():
        meaning = one.doc + (f" ({one.unit})" if one.unit else "")
        value = "" if one.required else f"`{default(one)}`"
        value = f"advised: `{one.advice}`" if one.advice else value
        rows.append(f"| `{one.name}` | {_plain(meaning)} | {_plain(one.expected)} | {value} |")
    return "\n".join(rows)


def _plain(text: str) -> str:
    """Text that Markdown shows as it is."""
    for mark in ("|", "*", "_", "<"):
        text = text.replace(mark, f"\\{mark}")
    return text
