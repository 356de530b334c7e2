"""Cells and runs: the records that say what a run file holds.

A `CellSpec` holds all that the runs of one run file need, and lies in the file's metadata; a `Run` is one run of it.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any, Literal

from fedatlas.registry.options import native, option

LARGEST_SEED = 2**63 - 1  # that a column of whole numbers holds

Axes = dict[str, list[Any]]  # values by axis
Point = dict[str, Any]  # one value for each axis
Spec = dict[str, Any]  # a kind and its options
Space = dict[str, list[Any]]  # (low, high) of each tuned hyper-parameter; see `fedatlas.experiments.tuning.trials`
Environment = dict[str, str]  # what computed a run, see `fedatlas.io.machine.environment`

CASE = "case"  # the axis of an experiment's cases
RUNG = "rung"  # column of the rung that a run ends at, 0 for all rounds; only where a tuning rule is named
EXCHANGES = "exchanges"  # column of the exchanges since the evaluation before, as `Ledger.text` writes them
SEARCHED = ("within", "tune", "seeds", "select", "tuning")  # keys of a cell that say which runs there are


@dataclass(frozen=True, kw_only=True)
class Select:
    """The rule by which runs are scored and a tuned value is chosen."""

    metric: str = option(doc="metric that is compared")
    statistic: Literal["best", "final"] = option(doc="its best value over the evaluations, or the last")
    goal: Literal["min", "max"] = option(doc="whether small or large values are good")
    last: int = option(1, doc="final is the mean over so many last evaluations", low=1)
    seeds: list[int] = option(
        lambda: [1000, 1001, 1002, 1003, 1004],
        low=0,
        high=LARGEST_SEED,
        doc="tuning seeds, by the median over which tuned values are compared; none of them is a seed of runs that are "
        "scored",
        filled=True,
        distinct=True,
    )
    extend: int = option(
        3,
        doc="how often each end of a tuning axis may be moved outwards, by the ratio of its two outermost values, "
        "while the best value lies there",
        low=0,
        high=20,
    )
    tuned_on: str | None = option(
        None,
        doc="metric that tuned values are compared by, such as validation_accuracy where metric is of test data; by "
        "default metric",
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "seeds", sorted(self.seeds))  # their order says nothing

    @property
    def tuning_metric(self) -> str:
        """Name of the metric that tuned values are compared by."""
        return self.tuned_on or self.metric

    @property
    def comparison(self) -> list[Any]:
        """How runs on tuning seeds are scored: metric, statistic, goal, and number of last evaluations."""
        return [self.tuning_metric, self.statistic, self.goal, self.last]


@dataclass(frozen=True)
class CellSpec:
    """The specification of a cell: all that the runs of one run file need.

    Attributes:
        algorithm: Name of the algorithm.
        parameters: Its fixed hyper-parameters: numbers, or formulas of the problem's constants.
        problem: Specification of the problem.
        setting: Keys of the setting that all runs share.
        within: Axes inside the file.
        tune: Tuned hyper-parameters and their values.
        seeds: Seeds of the runs that are scored.
        optimum: Whether F* is known.
        part: (index, count) where the points within are spread over several files.
        select: How a tuned value is chosen; None where there is no choice.
        case: Name of the experiment's case, which the problem and the setting contain; None where there are no cases.
        space: Search space from which trials were drawn: the i-th values of all axes in ``tune`` are one trial. None
            where values form a grid.
        tuning: Tuning rule and its options; None for the rule that ``space`` implies, which is trials or grid.
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
    select: Select | None = None
    case: str | None = None
    space: Space | None = None
    tuning: Spec | None = None

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            object.__setattr__(self, name, native(getattr(self, name)))
        if self.select is None and has_choice(self.tune):
            raise ValueError("several tuned values need a select")

    def to_dict(self) -> dict[str, Any]:
        """Return the specification as JSON types, without the keys that are None.

        Run files are found by the JSON of their cells, which a new key that nobody uses must not change: its default
        must be None. Nothing is copied, which would cost a plan of many cells seconds.
        """
        content = {key: value for key, value in vars(self).items() if value is not None}
        return content if self.select is None else content | {"select": vars(self.select)}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> "CellSpec":
        """Return the specification that `to_dict` turned into JSON types."""
        select = content.get("select")
        return cls(**{**content, "select": select and Select(**select)})

    @property
    def tuning_seeds(self) -> list[int]:
        """Seeds on which tuned values are compared; empty where there is no choice."""
        return self.select.seeds if self.select else []

    @property
    def tuning_rule(self) -> Spec:
        """Specification of the tuning rule: the one that is named, or the one that the tuned values imply."""
        return self.tuning or {"kind": "grid" if self.space is None else "trials"}

    def axis_value(self, axis: str) -> Any:
        """Return the value of an axis: the case, or a key of setting, problem or parameters."""
        if axis == CASE:
            return self.case
        first, *rest = axis.split(".")
        value: Any = getattr(self, first) if first in ("problem", "parameters") else self.setting[first]
        for part in rest:
            value = value[int(part)] if isinstance(value, list) else value[part]
        return value


@dataclass(frozen=True)
class Cell:
    """One run file of an experiment: the algorithm's id in the experiment, its point of the grid, and its runs."""

    id: str
    point: Point
    spec: CellSpec

    @property
    def key(self) -> str:
        """Name of the run file, without its suffix."""
        if self.spec.part is None:
            return slug(self.point)
        part, parts = self.spec.part
        return slug({**self.point, "part": f"{part + 1}-of-{parts}"})


@dataclass(frozen=True)
class Run:
    """One run of a cell.

    Attributes:
        algorithm: Name of the algorithm.
        parameters: Its hyper-parameters, with the tuned values.
        problem: Specification of the problem.
        setting: Keys of the setting, with the values of the axes.
        seed: Seed of the run.
        within: Values of the cell's axes inside the file.
        tune: Tuned values.
        rung: Number of the rung that the run ends at, from 1; 0 for a run of all rounds.
    """

    algorithm: str
    parameters: dict[str, Any]
    problem: Spec
    setting: dict[str, Any]
    seed: int
    within: Point
    tune: Point
    rung: int = 0

    @property
    def key(self) -> str:
        """Identity of the run inside its cell: values of axes, the rounds of a rung, and last the seed."""
        rounds = [self.setting["rounds"]] if self.rung else []
        return json.dumps([self.within, self.tune, *rounds, self.seed], sort_keys=True)


def has_choice(tune: Axes) -> bool:
    """Return whether tuned values leave a choice."""
    return prod(map(len, tune.values())) > 1


def slug(point: Mapping[str, Any]) -> str:
    """Return the stem of a file's name for a point of axes."""
    return ",".join(f"{axis}={_text(value)}" for axis, value in point.items()) or "all"


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return "-".join(_text(v) for v in value.values())
    if isinstance(value, list):
        return "-".join(map(_text, value))
    return "".join(c if c.isalnum() or c in ".-+" else "_" for c in str(value))
