"""Choosing rows of a table or of curves by the values of its axes."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from fedatlas.experiments.specification import Select
from fedatlas.labels import parsed
from fedatlas.metrics import metric

if TYPE_CHECKING:
    from pandas import DataFrame, Series

EXTREMES = ("max", "min")


def matching(frame: "DataFrame", where: Mapping[str, Any] | None) -> "DataFrame":
    """Rows whose axes have the values of where.

    frame: with a column for each axis. where: {axis: value}; a list keeps any of its values, ``max`` and ``min`` the
    largest and smallest among the rows that the other axes leave. Mappings and lists are compared with the JSON text
    that tables hold.
    """
    extremes = {}
    for axis, value in (where or {}).items():
        if isinstance(value, str) and value in EXTREMES:
            extremes[axis] = value
        else:
            frame = frame[holds(frame[axis], value)]
    chosen = {axis: getattr(frame[axis], end)() for axis, end in extremes.items()} if len(frame) else {}
    for axis, value in chosen.items():
        frame = frame[frame[axis] == value]
    return frame


def holds(column: "Series", value: Any) -> "Series":
    """Which cells of a column have a value: booleans. A list means any of its values, unless cells are lists."""
    cells = column.map(parsed)
    if isinstance(value, list) and not cells.map(lambda cell: isinstance(cell, list)).any():
        return cells.map(lambda cell: cell in value)
    return cells.map(lambda cell: cell == value).astype(bool)


def numeric(column: "Series") -> bool:
    """Whether a column holds numbers."""
    return column.dtype.kind in "iuf"


def goal(name: str, select: Select) -> Literal["min", "max"]:
    """Which values of a metric are good. select: of the experiment, whose own metric has the goal that it states."""
    return select.goal if name == select.metric else metric(name).goal


def attained(curve: "DataFrame", name: str, target: float, select: Select) -> float:
    """First evaluated round in which the mean of a metric over seeds attains a target; inf if none does.

    curve: rows of one algorithm at one point. A seed that diverged has no value, and a round in which any seed has none
    does not count. name: of the metric. select: of the experiment.
    """
    groups = curve.groupby("round")[name]
    mean = groups.mean()[groups.count() == curve["seed"].nunique()]
    there = mean[(mean <= target) if goal(name, select) == "min" else (mean >= target)]
    return float(there.index.min()) if len(there) else math.inf
