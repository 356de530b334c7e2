"""Cells and runs: the records that say what a run file holds.

A `CellSpec` holds all that the runs of one run file need, and lies in the file's metadata; a `Run` is one run of it.
"""

import dataclasses
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
Space = dict[str, list[Any]]  # (low, high) of each tuned hyper-parameter; see `fedatlas.experiments.tuning.halton`

CASE = "case"  # the axis of an experiment's cases


@dataclass(frozen=True, kw_only=True)
class Select:
    """How runs are scored, and how a tuned value is chosen."""

    metric: str = option(doc="metric that is compared")
    statistic: Literal["best", "final"] = option(doc="its best value over the evaluations, or the last")
    goal: Literal["min", "max"] = option(doc="whether small or large values are good")
    last: int = option(1, doc="final is the mean over so many last evaluations", low=1)
    seeds: list[int] = option(
        lambda: [1000],
        low=0,
        high=LARGEST_SEED,
        doc="tuning seeds, on which tuned values are compared; none of them is a seed of runs that are scored",
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

    @property
    def tuning_metric(self) -> str:
        """Name of the metric that tuned values are compared by."""
        return self.tuned_on or self.metric

    @property
    def values(self) -> str:
        """What is scored, for people: ``best values``, ``final values`` or ``means of the last 50 values``."""
        several = self.statistic == "final" and self.last > 1
        return f"means of the last {self.last} values" if several else f"{self.statistic} values"


LEFT_OUT = ("part", "select", "case", "space")  # keys of a cell that its JSON does not hold where they are None


@dataclass(frozen=True)
class CellSpec:
    """All that the runs of one run file need.

    algorithm, parameters, problem, setting: of all of them. within: axes inside the file. tune: tuned
    hyper-parameters. seeds: of the runs that are scored. optimum: whether F* is known. part: (place, count) where the
    points within are spread over several files. select: how a tuned value is chosen; None where there is no choice.
    case: name of the experiment's case, which the problem and the setting contain; None where there are no cases.
    space: from which trials were drawn; then the values of ``tune`` belong together by their place. None where they
    form a grid.
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

    def __post_init__(self) -> None:
        for one in dataclasses.fields(self):
            object.__setattr__(self, one.name, native(getattr(self, one.name)))
        if self.select is None and has_choice(self.tune):
            raise ValueError("several tuned values need a select")

    def plain(self) -> dict[str, Any]:
        """The specification as JSON types; what is left out has its default."""
        found = dataclasses.asdict(self)
        return {key: value for key, value in found.items() if value is not None or key not in LEFT_OUT}

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> "CellSpec":
        """The specification that ``plain`` gave."""
        select = plain.get("select")
        return cls(**{**plain, "select": select and Select(**select)})

    @property
    def tuning_seeds(self) -> list[int]:
        """Seeds on which tuned values are compared; none where there is no choice."""
        return self.select.seeds if self.select else []

    def look(self, axis: str) -> Any:
        """The value of an axis: the case, a key of the setting, or ``problem.`` or ``parameters.`` and a key."""
        if axis == CASE:
            return self.case
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

    @property
    def key(self) -> str:
        """Name of the run file, without its suffix."""
        if self.spec.part is None:
            return slug(self.point)
        part, parts = self.spec.part
        return slug({**self.point, "part": f"{part + 1}-of-{parts}"})


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
class Search:
    """The search for the best tuned value at one point within.

    axes: tuned hyper-parameters and their values, with those that were added. chosen: the best, or None while it is not
    known. space: from which trials were drawn, with what was added to it; None where values form a grid.
    """

    within: Point
    axes: Axes
    chosen: Point | None = None
    space: Space | None = None


def has_choice(tune: Axes) -> bool:
    """Whether tuned values leave a choice."""
    return prod(map(len, tune.values())) > 1


def slug(point: Mapping[str, Any]) -> str:
    """A file name for a point of some axes."""
    return ",".join(f"{axis}={_text(value)}" for axis, value in point.items()) or "all"


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return "-".join(_text(v) for v in value.values())
    if isinstance(value, list):
        return "-".join(map(_text, value))
    return "".join(c if c.isalnum() or c in ".-+" else "_" for c in str(value))


def format_value(value: Any) -> str:
    """A value in the words of the file: ``dirichlet, alpha = 0.3`` for a specification."""
    if isinstance(value, dict):
        options = [f"{key} = {format_value(one)}" for key, one in value.items() if key != "kind"]
        return ", ".join([str(value["kind"]), *options] if "kind" in value else options)
    if isinstance(value, list):
        return "(" + ", ".join(map(format_value, value)) + ")"
    return f"{value:g}" if isinstance(value, float) else str(value)
