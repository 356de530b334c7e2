"""An experiment file as a record: every key with its type and meaning."""

import dataclasses
import functools
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from fedatlas.data import sources
from fedatlas.errors import UserError, name_place
from fedatlas.experiments.cells import CASE, LARGEST_SEED, Axes, Select
from fedatlas.experiments.view import Claim
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.partitions import PARTITIONS
from fedatlas.federation.problems import PROBLEMS, interactive
from fedatlas.registry.options import Option, construct, option, options, validate_names, validate_values

T = TypeVar("T")
DATA_AXES = {f"problem.{key}" for key in interactive.DATA_KEYS}
NAMING_DATA = ("problem", "grid", "within", "figures", "claims")  # sections that may hold mappings of custom data
AXIS = Option("axis", list[Any], dataclasses.MISSING, doc="values of an axis", filled=True, distinct=True)
# Names become parts of names of files: their pattern, in words. Those of figures are wildcards of the workflow, too.
NAME = (r"\w[\w.+-]*", "letters, digits, _, ., + and -")
NAME_OF_AXIS = (r"[\w.]+", "letters, digits, _ and .")
NAME_OF_FIGURE = (r"\w+", "letters, digits and _")


@dataclass(frozen=True, kw_only=True)
class InterimAnalyses:
    """Seeds that are added until claims are decided.

    Runs begin with the seeds 0, 1, ... of the first interim analysis. After each analysis the run files that undecided
    claims compare get the seeds of the next, which are twice as many.
    """

    at_least: int = option(doc="seeds of all runs, at which claims are judged first", low=2, high=1000)
    at_most: int = option(doc="most seeds of runs whose comparisons stay undecided", low=2, high=1000)

    def __post_init__(self) -> None:
        if self.at_most <= self.at_least:
            raise UserError(
                f"seeds: at_most is {self.at_most}; it must be larger than at_least, which is {self.at_least}"
            )

    @property
    def counts(self) -> list[int]:
        """Numbers of seeds of the interim analyses, ascending."""
        counts = [self.at_least]
        while counts[-1] < self.at_most:
            counts.append(min(2 * counts[-1], self.at_most))
        return counts


@dataclass(frozen=True, kw_only=True)
class Entry:
    """An algorithm of an experiment."""

    algorithm: str | None = option(None, doc="the algorithm's name, if it differs from the key")
    label: str | None = option(None, doc="name in legends; by default the algorithm's")
    emphasis: bool = option(False, doc="whether figures draw it above all others, in a thick line")
    set: dict[str, Any] = option(dict, doc="fixed hyper-parameters")
    tune: dict[str, Any] = option(dict, doc="tuning axes of this algorithm alone; null removes a common one")
    search: dict[str, Any] = option(
        dict, doc="ranges of trials in place of those that the algorithm declares; null for no tuning"
    )
    extend: int | None = option(None, low=0, high=20, doc="as extend of select, for this algorithm alone")
    setting: dict[str, Any] = option(dict, doc="keys of the setting for this algorithm alone")
    undefined: dict[str, str] = option(
        dict,
        doc="kinds of problem, or groups of cases, for which it is not defined beyond what the algorithm itself says, "
        "each with the reason",
    )
    seeds: list[int] | None = option(
        None, low=0, high=LARGEST_SEED, doc="seeds of this algorithm alone", filled=True, distinct=True
    )


@dataclass(frozen=True, kw_only=True)
class Case:
    """A case of an experiment: what differs from the experiment's problem and setting."""

    label: str | None = option(None, doc="name in figures and tables; by default the key")
    problem: dict[str, Any] = option(
        dict, doc="laid over the experiment's problem: option by option, or as a whole where the kind is another"
    )
    setting: dict[str, Any] = option(dict, doc="laid over the experiment's setting, key by key")
    optimum: bool | None = option(None, doc="whether F* is computed first; by default as the experiment says")
    group: str | None = option(None, doc="group of cases, whose name stands for them in where")


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """An experiment file at one size, with the size's overrides merged and all defaults filled in.

    name, size, file: of the file that it was read from. Its other fields are the keys of the file. Where there are
    cases, they are the first axis of ``grid``.
    """

    name: str
    size: str
    file: str
    title: str = option(doc="what the experiment shows, as a heading of the report")
    paper: str = option(doc="key of the paper in references.bib")
    source: str = option(doc="figures, tables and sections of the paper that this re-runs")
    description: str = option("", doc="a paragraph for the report")
    notes: list[str] = option(list, doc="choices that the paper leaves open, and deviations from it")
    problem: dict[str, Any] = option(doc="the problem's kind and its options", family="problem")
    optimum: bool = option(False, doc="whether F* is computed first, so that suboptimality can be measured")
    setting: dict[str, Any] = option(doc="conditions common to all runs; axes of grid and within override them")
    cases: dict[str, Case] = option(
        dict,
        doc="named problems and settings, an axis of grid; an algorithm has no runs in a case for which it is not "
        "defined",
    )
    grid: Axes = option(dict, doc="axes of which every combination is a run file of each algorithm")
    within: Axes = option(dict, doc="axes inside a run file, for many short runs")
    parts: int = option(1, low=1, high=1000, doc="run files, and so jobs, that the points within are spread over")
    trials: int = option(
        0,
        low=0,
        high=1000,
        doc="quasi-random points of each algorithm's search space that are compared, in place of grids; their number "
        "is the same for all, or with tuning pattern_search for each hyper-parameter",
    )
    tuning: str | dict[str, Any] | None = option(
        None,
        doc="rule that chooses among tuned values, where it is not that of a grid (lists of values) or of trials",
        family="tuning rule",
    )
    tune: Axes = option(dict, doc="hyper-parameters tuned for every algorithm alike, and their values")
    seeds: list[int] | InterimAnalyses = option(
        lambda: [0],
        low=0,
        high=LARGEST_SEED,
        doc="seeds of samples, participation and start, over which scores are means; or how many at least and at most, "
        "with which undecided comparisons alone get more",
        filled=True,
        distinct=True,
    )
    select: Select = option(doc="how a tuned value is chosen")
    algorithms: dict[str, Entry] = option(
        doc="algorithms by the name that they bear in tables and figures", filled=True
    )
    figures: dict[str, dict[str, Any]] = option(dict, doc="figures by name: kind, options and caption")
    claims: dict[str, Claim] = option(dict, doc="the paper's claims, and their checks, by name")

    def __post_init__(self) -> None:
        if isinstance(self.seeds, list):
            object.__setattr__(self, "seeds", sorted(self.seeds))  # their order says nothing

    @property
    def axes(self) -> Axes:
        """Axes of grid and within."""
        return {**self.grid, **self.within}

    @property
    def analyses(self) -> list[int]:
        """Numbers of seeds at which claims are judged, ascending; empty where the seeds are fixed."""
        return self.seeds.counts if isinstance(self.seeds, InterimAnalyses) else []

    @property
    def first_seeds(self) -> list[int]:
        """Seeds of the runs that are scored, whatever the verdicts are."""
        return list(range(self.seeds.at_least)) if isinstance(self.seeds, InterimAnalyses) else self.seeds

    @property
    def where(self) -> str:
        """The file and the size, for sentences."""
        return f"{self.file} (size {self.size})"

    def figure(self, name: str) -> dict[str, Any]:
        """Return the specification of a figure: its kind and options, without its caption."""
        return {key: value for key, value in self.figures[name].items() if key != "caption"}

    def algorithm(self, id: str) -> str:
        """The algorithm's name behind an entry."""
        return self.algorithms[id].algorithm or id

    def tuning_grid(self, id: str) -> Axes:
        """The grid over which an entry is tuned, where it is not tuned by trials."""
        axes = {**self.tune, **self.algorithms[id].tune}
        return {name: values for name, values in axes.items() if values is not None}


def experiment(name: str, size: str, file: str, content: Mapping[str, Any]) -> Experiment:
    """The Experiment of a file's content at a size.

    Raises UserError, naming file and key, where a value does not fit.
    """
    where, parts = f"{file} (size {size})", dict(content)
    with name_place(where):
        for section in filter(parts.__contains__, NAMING_DATA):
            parts[section] = _name_data(parts[section], section)
        _expand_cases(parts)
        for section, make in _MAKERS.items():
            if isinstance(parts.get(section), Mapping):  # the option's type refuses anything else
                parts[section] = make(parts[section])
    return construct(where, Experiment, parts, name=name, size=size, file=file)


def _name_data(value: Any, path: str, of_data: bool = False) -> Any:
    """Return a section with names in place of mappings of custom data, of the problem or as values of an axis."""
    if isinstance(value, list):
        return [_name_data(item, path, of_data) for item in value]
    if not isinstance(value, Mapping):
        return value
    if not of_data:
        inside = {key: f"{path}.{key}" for key in value}
        return {key: _name_data(item, inside[key], bool({key, inside[key]} & DATA_AXES)) for key, item in value.items()}
    with name_place(path):
        return sources.name(value)


def _expand_cases(content: dict[str, Any]) -> None:
    """Make cases the first axis of grid, and replace groups by their cases where figures and claims select cases."""
    cases, grid = content.get("cases"), content.get("grid", {})
    if not cases or not isinstance(cases, Mapping) or not isinstance(grid, Mapping):
        return  # the check of the option refuses what is neither missing nor a mapping
    if grid.get(CASE) is not None:
        raise UserError(f"grid: {CASE!r} is the axis of the cases; give your axis another name")
    content["grid"] = {CASE: list(cases)} | {axis: values for axis, values in grid.items() if axis != CASE}
    groups: dict[str, list[str]] = {}
    for name, case in cases.items():
        if isinstance(case, Mapping) and isinstance(case.get("group"), str):
            groups.setdefault(case["group"], []).append(name)
    for section in ("figures", "claims"):
        content[section] = _expand_groups(content.get(section, {}), groups)


def _expand_groups(value: Any, groups: Mapping[str, list[str]]) -> Any:
    """Return figures, or claims, with the cases of a group where ``where`` names the group."""
    if not isinstance(value, Mapping):
        return value
    where = value.get("where")
    if isinstance(where, Mapping) and CASE in where:
        chosen = where[CASE] if isinstance(where[CASE], list) else [where[CASE]]
        if any(isinstance(name, str) and name in groups for name in chosen):
            cases = [case for name in chosen for case in groups.get(name, [name])]
            return {**value, "where": {**where, CASE: cases}}
    return {key: _expand_groups(item, groups) for key, item in value.items()}


def _problem(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    """The problem's specification, of which axes may give all options but the kind."""
    PROBLEMS.get(PROBLEMS.split(spec)[0])
    return {**spec, "partition": PARTITIONS.canonical(spec["partition"])} if spec.get("partition") else spec


def _axes(section: str, axes: Mapping[str, Any]) -> Axes:
    """Axes without those that null removes."""
    _check_names(section, axes, NAME_OF_AXIS)
    axes_left = {axis: values for axis, values in axes.items() if values is not None}
    validate_values(section, dict.fromkeys(axes_left, AXIS), axes_left)
    return axes_left


def _setting(section: str, values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Keys of a setting, of which axes may give those that are missing."""
    validate_names(section, options(Setting), values)
    validate_values(section, options(Setting), values)
    return values


def _check_names(section: str, names: Iterable[str], form: tuple[str, str] = NAME) -> None:
    """Raise UserError if a name cannot be part of the name of a file."""
    pattern, letters = form
    for name in names:
        if not re.fullmatch(pattern, name):
            raise UserError(f"{section}: the name {name!r} must consist of {letters}")


def _records(section: str, cls: type[T], values: Mapping[str, Any]) -> dict[str, T]:
    """Return the records of a section by their names."""
    _check_names(section, values)
    return {name: construct(f"{section}.{name}", cls, {} if value is None else value) for name, value in values.items()}


def _entries(values: Mapping[str, Any]) -> dict[str, Entry]:
    entries = _records("algorithms", Entry, values)
    for id, entry in entries.items():
        _axes(f"algorithms.{id}.tune", entry.tune)
        _setting(f"algorithms.{id}.setting", entry.setting)
    return entries


def _figures(figures: Mapping[str, Any]) -> Mapping[str, Any]:
    _check_names("figures", figures, NAME_OF_FIGURE)
    for name, values in figures.items():
        if not isinstance(values, Mapping) or not isinstance(values.get("caption"), str):
            raise UserError(f"figures.{name} is {values!r}; it must be a mapping with a kind, a caption and options")
    return figures


def _cases(values: Mapping[str, Any]) -> dict[str, Case]:
    cases = _records("cases", Case, values)
    for name, case in cases.items():
        _setting(f"cases.{name}.setting", {k: v for k, v in case.setting.items() if v is not None})
    for group in {case.group for case in cases.values()} & cases.keys():
        raise UserError(f"cases.{group}: a group has this name, too; give one of them another name")
    return cases


_MAKERS: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    "select": functools.partial(construct, "select", Select),
    "seeds": functools.partial(construct, "seeds", InterimAnalyses),
    "problem": _problem,
    "setting": functools.partial(_setting, "setting"),
    **{section: functools.partial(_axes, section) for section in ("grid", "within", "tune")},
    "cases": _cases,
    "algorithms": _entries,
    "figures": _figures,
    "claims": functools.partial(_records, "claims", Claim),
}
