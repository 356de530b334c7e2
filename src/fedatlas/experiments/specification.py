"""The records that travel between the packages: an experiment, its cells, their runs, and what figures know of it.

An `Experiment` is an experiment file at one size. It expands into `Cell`s, one for each run file; a cell's `CellSpec`
holds all that its runs need and lies in the run file's metadata; `Run` is one run of it. A `View` is what tables,
figures and claims know of an experiment.
"""

import copy
import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from fedatlas.errors import UserError
from fedatlas.options import construct, option

Size = Literal["smoke", "laptop", "paper"]
Axes = dict[str, list[Any]]  # values by axis
Point = dict[str, Any]  # one value for each axis
Spec = dict[str, Any]  # a kind and its options


@dataclass(frozen=True, kw_only=True)
class Select:
    """How a tuned value is chosen."""

    metric: str = option(doc="metric that is compared")
    statistic: Literal["best", "final"] = option(doc="its best value over the evaluations, or the last")
    goal: Literal["min", "max"] = option(doc="whether small or large values are good")


@dataclass(frozen=True, kw_only=True)
class Entry:
    """An algorithm of an experiment."""

    algorithm: str | None = option(None, doc="the algorithm's name, if it differs from the key")
    label: str | None = option(None, doc="name in legends; by default the algorithm's")
    set: dict[str, Any] = option(dict, doc="fixed hyper-parameters")
    tune: dict[str, Any] = option(dict, doc="tuning axes of this algorithm alone; null removes a common one")
    setting: dict[str, Any] = option(dict, doc="keys of the setting for this algorithm alone")
    seeds: list[int] | None = option(None, low=0, doc="seeds of this algorithm alone")


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A sentence of the paper, and a check of it."""

    text: str = option(doc="the claim in the paper's words or nearly so")
    source: str = option(doc="where the paper makes it")
    sizes: list[Size] | None = option(None, doc="sizes at which it is tested; by default all")
    note: str | None = option(None, doc="why a tolerance was chosen, or why the claim fails if that is known")
    check: dict[str, Any] = option(doc="kind of the check, and its options", family="check")

    def tested_at(self, size: str) -> bool:
        """Whether the claim is tested at a size."""
        return self.sizes is None or size in self.sizes


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """An experiment file at one size, with the size's overrides merged and all defaults filled in.

    name, size, file: of the file that it was read from. Its other fields are the keys of the file.
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
    grid: dict[str, list[Any] | None] = option(
        dict, doc="axes of which every combination is a run file of each algorithm"
    )
    within: dict[str, list[Any] | None] = option(dict, doc="axes inside a run file, for many short runs")
    parts: int = option(1, low=1, doc="run files, and so jobs, that the points within are spread over")
    tune: dict[str, list[Any] | None] = option(
        dict, doc="hyper-parameters tuned for every algorithm alike, and their values"
    )
    seeds: list[int] = option(
        lambda: [0], low=0, doc="seeds of samples, participation and start; scores are means over them"
    )
    select: Select = option(doc="how a tuned value is chosen")
    algorithms: dict[str, Entry] = option(doc="algorithms by the name that they bear in tables and figures")
    figures: dict[str, Spec] = option(dict, doc="figures by name")
    claims: dict[str, Claim] = option(dict, doc="the paper's claims, and their checks, by name")

    @property
    def axes(self) -> Axes:
        """Axes of grid and within."""
        return {**self.grid, **self.within}

    @property
    def where(self) -> str:
        """The file and the size, for sentences."""
        return f"{self.file} (size {self.size})"

    def algorithm(self, id: str) -> str:
        """The algorithm's name behind an entry."""
        return self.algorithms[id].algorithm or id

    def tuning(self, id: str) -> Axes:
        """The axes over which an entry is tuned."""
        both = {**self.tune, **self.algorithms[id].tune}
        return {name: values for name, values in both.items() if values is not None}


@dataclass(frozen=True)
class CellSpec:
    """All that the runs of one run file need.

    algorithm, parameters, problem, setting: of all of them. within: axes inside the file. tune: tuned
    hyper-parameters. seeds: of the runs. optimum: whether F* is known. part: (place, count) where the points within are
    spread over several files.
    """

    algorithm: str
    parameters: dict[str, Any]
    problem: Spec
    setting: dict[str, Any]
    within: Axes = field(default_factory=dict)
    tune: Axes = field(default_factory=dict)
    seeds: list[int] = field(default_factory=lambda: [0])
    optimum: bool = False
    part: list[int] | None = None

    def plain(self) -> dict[str, Any]:
        """The specification as JSON types; what is left out has its default."""
        found = {f.name: copy.deepcopy(getattr(self, f.name)) for f in dataclasses.fields(self)}
        if found["part"] is None:
            del found["part"]
        return found

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> "CellSpec":
        """The specification that ``plain`` gave."""
        return cls(**plain)

    def look(self, axis: str) -> Any:
        """The value of an axis: a key of the setting, or ``problem.`` or ``parameters.`` and a key."""
        first, *rest = axis.split(".")
        value: Any = getattr(self, first) if first in ("problem", "parameters") else self.setting[first]
        for part in rest:
            value = value[int(part)] if isinstance(value, list) else value[part]
        return value


@dataclass(frozen=True)
class Cell:
    """One run file. id: the algorithm's name in the experiment. point: of the grid. spec: all that the runs need."""

    id: str
    point: Point
    spec: CellSpec


@dataclass(frozen=True)
class Run:
    """One run of a cell. within, tune: its values of the cell's axes; the other fields contain them."""

    algorithm: str
    parameters: dict[str, Any]
    problem: Spec
    setting: dict[str, Any]
    seed: int
    within: Point
    tune: Point

    @property
    def key(self) -> str:
        """Identity of the run inside its cell."""
        return json.dumps([self.within, self.tune, self.seed], sort_keys=True)


@dataclass(frozen=True)
class Shown:
    """An algorithm of an experiment as figures and claims know it. name: for people."""

    algorithm: str
    name: str
    set: dict[str, Any] = field(default_factory=dict)
    tune: Axes = field(default_factory=dict)
    setting: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class View:
    """What tables, figures and claims know of an experiment.

    axes: names of the axes of grid and within. tune: names of all tuned hyper-parameters. algorithms: by id.
    """

    name: str
    size: str
    axes: list[str]
    tune: list[str]
    select: Select
    problem: Spec
    setting: dict[str, Any]
    seeds: list[int]
    algorithms: dict[str, Shown]

    def plain(self) -> dict[str, Any]:
        """The view as JSON types."""
        return dataclasses.asdict(self)

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> "View":
        """The view that ``plain`` gave."""
        select, shown = Select(**plain["select"]), {id: Shown(**one) for id, one in plain["algorithms"].items()}
        return cls(**{**plain, "select": select, "algorithms": shown})


def experiment(name: str, size: str, file: str, content: Mapping[str, Any]) -> Experiment:
    """The Experiment of a file's content at a size.

    Raises UserError, naming file and key, where a value does not fit.
    """
    where = f"{file} (size {size})"
    try:
        found = dict(content)
        if isinstance(found.get("select"), Mapping):
            found["select"] = construct("select", Select, found["select"])
        for section, cls in (("algorithms", Entry), ("claims", Claim)):
            if isinstance(found.get(section), Mapping):
                made = {k: construct(f"{section}.{k}", cls, v or {}) for k, v in found[section].items()}
                found[section] = made
        for section in ("grid", "within", "tune"):
            if isinstance(found.get(section), Mapping):
                found[section] = {axis: values for axis, values in found[section].items() if values is not None}
        made = construct("the experiment", Experiment, found, name=name, size=size, file=file)
    except UserError as error:
        raise UserError(f"{where}: {error}") from None
    return made
