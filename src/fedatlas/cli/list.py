"""Names and one-line texts of all that the atlas holds, for ``fedatlas list`` and the pages about options."""

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from fedatlas.data.catalogue import SOURCES
from fedatlas.data.readers import READERS
from fedatlas.data.sources import CustomKeys
from fedatlas.experiments.cells import Select
from fedatlas.experiments.specification import Entry, Experiment, InterimAnalyses
from fedatlas.experiments.tuning import TUNING_RULES
from fedatlas.experiments.view import Claim
from fedatlas.federation import problems
from fedatlas.federation.algorithms import ALGORITHMS
from fedatlas.federation.architectures import ARCHITECTURES
from fedatlas.federation.channels import CHANNELS
from fedatlas.federation.costs import COST_MODELS
from fedatlas.federation.engine.drivers import DRIVERS
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.metrics import METRICS, Metric
from fedatlas.federation.participation import PARTICIPATION
from fedatlas.federation.partitions import PARTITIONS
from fedatlas.federation.problems import PROBLEMS, ProblemKind
from fedatlas.federation.sampling import SAMPLING
from fedatlas.federation.schedules import SCHEDULES
from fedatlas.federation.topologies import TOPOLOGIES
from fedatlas.io.machine import hanging_indent
from fedatlas.registry import extensions
from fedatlas.registry.extensions import describe
from fedatlas.registry.kinds import Family, Kind, first_paragraph
from fedatlas.registry.options import Option
from fedatlas.results.claims import CHECKS
from fedatlas.results.figures import FIGURES

# all families of kinds, by the names of their sections
FAMILIES: dict[str, Family[Any]] = {
    "algorithms": ALGORITHMS,
    "problems": PROBLEMS,
    "architectures": ARCHITECTURES,
    "partitions": PARTITIONS,
    "participation": PARTICIPATION,
    "schedules": SCHEDULES,
    "sampling": SAMPLING,
    "topologies": TOPOLOGIES,
    "channels": CHANNELS,
    "drivers": DRIVERS,
    "tuning rules": TUNING_RULES,
    "readers": READERS,
    "cost models": COST_MODELS,
    "figures": FIGURES,
    "checks": CHECKS,
    "metrics": METRICS,
}

# parts of an experiment's file that are no kinds, by the names of their tables on the page about options
SPECIFICATIONS = {
    "experiments": Experiment,
    "algorithms of an experiment": Entry,
    "select": Select,
    "interim analyses": InterimAnalyses,
    "claims": Claim,
    "setting": Setting,
    "custom data": CustomKeys,
}

SECTIONS = (*FAMILIES, "data", "experiments")
Declaration = type[Kind] | Metric


def overview(section: str | None = None) -> dict[str, list[tuple[str, str]]]:
    """Return pairs of a name and a line of text by section: all sections, or the one with a name."""
    return {name: list(_entries(name)) for name in SECTIONS if section in (None, name)}


def _entries(section: str) -> Iterator[tuple[str, str]]:
    if section == "data":
        yield from ((name, describe(SOURCES.get(name).title, SOURCES.module(name))) for name in SOURCES.names())
    elif section == "experiments":
        from fedatlas.workflow.study import Study
        from fedatlas.workflow.summary import title

        study = Study.open()
        yield from ((name, title(study, name, study.files.document(name))) for name in study.files.paths)
    else:
        family = FAMILIES[section]
        yield from ((name, describe(_summary(family.get(name)), family.module(name))) for name in family.names())


def _summary(kind: Declaration) -> str:
    if isinstance(kind, Metric):
        return kind.words
    words = [name if option.required else f"{name}={default(option)}" for name, option in all_options(kind).items()]
    return f"{first_paragraph(kind)} [{', '.join(words)}]" if words else first_paragraph(kind)


def all_options(kind: type) -> Mapping[str, Option]:
    """Return all options that a specification of a kind may have besides ``kind``."""
    if issubclass(kind, ProblemKind):
        return problems.spec_options(kind)
    return kind.options() if issubclass(kind, Kind) else {}


def default(option: Option) -> str:
    """Return the words for an option's default."""
    if option.constant:
        return f"the problem's {option.constant}"
    value = option.default() if callable(option.default) else option.default
    value = {} if dataclasses.is_dataclass(value) else value  # a mapping of which each key has a default
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def lines(sections: Mapping[str, list[tuple[str, str]]]) -> Iterator[str]:
    """Return sections for people, in lines of the width of the terminal."""
    for section, entries in sections.items():
        yield f"{section}:"
        yield from (hanging_indent(f"  {name:<18} ", text, 21) for name, text in entries)
        yield ""


def check_extensions() -> None:
    """Raise UserError if an extension cannot be imported, or a kind has the name of another or is incomplete."""
    if extensions.modules():
        for family in (*FAMILIES.values(), SOURCES):
            _ = family.extension_kinds
