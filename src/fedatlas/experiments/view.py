"""What tables, figures and claims know of an experiment, and how they select its rows.

An `ExperimentView` has the keys of the experiment that they depend on, a `Claim` is a sentence that they judge, and a
`TableMeta` says from which run files a table was made. Rows are selected by the values of axes. `merge` lays the keys
of a size or a case over those of the experiment.
"""

import copy
import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from fedatlas.experiments.cells import Axes, Environment, Select, Spec
from fedatlas.experiments.result_files import explain
from fedatlas.experiments.values import are_numbers, match_values, parse_cell
from fedatlas.registry.options import option

if TYPE_CHECKING:
    from pandas import DataFrame, Series

Size = Literal["smoke", "laptop", "paper"]

EXTREMES = ("max", "min")  # of an axis of numbers, which stand for a value in a choice of rows


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A sentence of the paper, and a check of it."""

    text: str = option(doc="the claim in the paper's words or nearly so")
    source: str = option(doc="where the paper makes it")
    sizes: list[Size] | None = option(None, doc="sizes at which it is tested; by default all")
    note: str | None = option(None, doc="why a tolerance was chosen, or why the claim fails if that is known")
    interpretation: str | None = option(
        None, doc="how the sentence is read, where it has several meanings: each is a claim"
    )
    check: dict[str, Any] = option(doc="kind of the check, and its options", family="check")
    vacuous: dict[str, Any] | None = option(
        None, doc="a check that, where it holds, leaves nothing to compare: the verdict is vacuous", family="check"
    )

    @property
    def checks(self) -> list[dict[str, Any]]:
        """The claim's checks."""
        return [self.check, *([self.vacuous] if self.vacuous is not None else [])]

    def tested_at(self, size: str) -> bool:
        """Return whether the claim is tested at a size."""
        return self.sizes is None or size in self.sizes


@dataclass(frozen=True)
class AlgorithmView:
    """An algorithm of an experiment, with its name in legends.

    Attributes:
        algorithm: Name of the algorithm.
        name: Its name in legends.
        set: Fixed hyper-parameters.
        tune: Tuned hyper-parameters with their values.
        setting: Keys of the setting that are its own.
        untuned: Hyper-parameters that are fixed at a number although trials would tune them.
        deterministic: Whether its runs are the same for all seeds.
        emphasis: Whether figures emphasise it.
    """

    algorithm: str
    name: str
    set: dict[str, Any] = field(default_factory=dict)
    tune: Axes = field(default_factory=dict)
    setting: dict[str, Any] = field(default_factory=dict)
    untuned: list[str] = field(default_factory=list)
    deterministic: bool = False
    emphasis: bool = False


@dataclass(frozen=True)
class ExperimentView:
    """The keys of an experiment that tables, figures and claims depend on.

    Attributes:
        axes: Names of the axes of grid and within.
        tune: Names of all tuned hyper-parameters.
        seeds: Seeds of the runs that are scored; where there are interim analyses, those that all such runs have.
        analyses: Numbers of seeds at which claims are judged, ascending; empty where the seeds are fixed.
        algorithms: Algorithms by id.
        cases: Labels of the experiment's cases by name.
        undefined: Reasons why algorithms are not defined, by id and case.
    """

    name: str
    size: str
    axes: list[str]
    tune: list[str]
    select: Select
    problem: Spec
    setting: dict[str, Any]
    seeds: list[int]
    algorithms: dict[str, AlgorithmView]
    cases: dict[str, str] = field(default_factory=dict)
    undefined: dict[str, dict[str, str]] = field(default_factory=dict)
    analyses: list[int] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Return the view as JSON types."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> "ExperimentView":
        """Return the view that `to_dict` turned into JSON types."""
        algorithms = {id: AlgorithmView(**algorithm) for id, algorithm in content["algorithms"].items()}
        return cls(**{**content, "select": Select(**content["select"]), "algorithms": algorithms})


EMPTY = ExperimentView("", "", [], [], Select(metric="", statistic="best", goal="min"), {}, {}, [], {})


@dataclass(frozen=True)
class TableMeta:
    """The metadata of a table.

    Attributes:
        environments: Environments of the run files, each once.
        data: Provenance of data sets, of the run files.
        fingerprints: Fingerprint of the code by the algorithm's id.
        runs: Number of runs.
        diverged_runs: Number of runs that diverged.
        seconds: Training time of all runs together.
        files: Paths of the run files, in the folder of the experiment's results.
        recorded: Number of them that come from a record.
        unverified: Number of those for which no verification holds with the code that runs.
    """

    environments: list[Environment]
    data: dict[str, dict[str, Any]]
    fingerprints: dict[str, str]
    runs: int
    diverged_runs: int
    seconds: float
    files: list[str] = field(default_factory=list)
    recorded: int = 0
    unverified: int = 0

    @property
    def origin(self) -> str:
        """How many cells come from the record, in words; empty if none does."""
        return f"{self.recorded} of {len(self.files)} cells from the record" if self.recorded else ""

    def to_dict(self) -> dict[str, Any]:
        """Return the metadata as JSON types."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> "TableMeta":
        """Return the metadata that `to_dict` turned into JSON types."""
        with explain("a result file has other metadata"):
            return cls(**content)


def select_rows(frame: "DataFrame", where: Mapping[str, Any] | None) -> "DataFrame":
    """Return the rows whose axes have the values of a choice.

    Args:
        frame: Table or curves, with a column for each axis.
        where: Value by axis. A list keeps rows with any of its values, unless it is itself a value of the axis. On an
            axis of numbers, ``max`` and ``min`` are the largest and smallest among the rows that the other axes leave.
    """
    if not where:
        return frame
    codes = frame.groupby(list(where), sort=False, dropna=False).ngroup()  # of points, in the order of the rows
    points = frame[list(where)][~codes.duplicated()].to_dict("records")
    values = [{axis: parse_cell(cell) for axis, cell in point.items()} for point in points]
    return frame[codes.isin(select_points(values, where))]


def select_points(points: Sequence[Mapping[str, Any]], where: Mapping[str, Any] | None) -> list[int]:
    """Return the indices of the points that `select_rows` would keep, without a DataFrame.

    Args:
        points: Value by axis, all of the same axes.
        where: As for `select_rows`.
    """
    places, extremes = list(range(len(points))), {}
    columns = {axis: [point[axis] for point in points] for axis in where or {}}
    for axis, value in (where or {}).items():
        if isinstance(value, str) and value in EXTREMES and are_numbers(columns[axis]):
            extremes[axis] = max if value == "max" else min
        else:
            mask = match_values(columns[axis], value)
            places = [index for index in places if mask[index]]
    chosen = {axis: end(columns[axis][at] for at in places) for axis, end in extremes.items()} if places else {}
    return [index for index in places if all(columns[axis][index] == value for axis, value in chosen.items())]


def sorted_values(column: "Series") -> list[Any]:
    """Return the distinct cells of a column without missing ones: numbers in order, others as they come."""
    cells = column.dropna().drop_duplicates().tolist()
    return sorted(cells) if is_numeric(column) else cells


def is_numeric(column: "Series") -> bool:
    """Return whether a column holds numbers."""
    return column.dtype.kind in "iuf"


def merge(base: Any, override: Any) -> Any:
    """Return base with override laid over it: mappings key by key, anything else replaced; None removes a key."""
    if not isinstance(base, dict) or not isinstance(override, dict):
        return copy.deepcopy(override)
    if "kind" in base and override.get("kind", base["kind"]) != base["kind"]:
        return copy.deepcopy(override)  # options of one kind mean nothing to another
    merged = {key: value if key in override else copy.deepcopy(value) for key, value in base.items()}
    for key, value in override.items():
        if value is None and merged.get(key) is not None:
            merged.pop(key)
        else:
            merged[key] = merge(merged.get(key), value) if isinstance(merged.get(key), dict) else copy.deepcopy(value)
    return merged
