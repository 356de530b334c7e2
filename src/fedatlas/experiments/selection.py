"""Choosing rows of a table or of curves by the values of its axes."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fedatlas.experiments.scores import goal
from fedatlas.experiments.view import Select
from fedatlas.labels import parsed

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
    return cells.map(_wanted(cells, value)).astype(bool)


def points_matching(points: Sequence[Mapping[str, Any]], where: Mapping[str, Any] | None) -> list[int]:
    """Places of the points that `matching` would keep, without a DataFrame.

    points: {axis: value}, all of the same axes. where: as of ``matching``.
    """
    found = [(place, {axis: parsed(value) for axis, value in point.items()}) for place, point in enumerate(points)]
    extremes = {}
    for axis, value in (where or {}).items():
        if isinstance(value, str) and value in EXTREMES:
            extremes[axis] = max if value == "max" else min
        else:
            wanted = _wanted([point[axis] for _, point in found], value)
            found = [(place, point) for place, point in found if wanted(point[axis])]
    chosen = {axis: end(point[axis] for _, point in found) for axis, end in extremes.items()} if found else {}
    return [place for place, point in found if all(point[axis] == value for axis, value in chosen.items())]


def _wanted(cells: Iterable[Any], value: Any) -> Callable[[Any], bool]:
    """Whether a cell has the value, or any of several values: what a list means depends on what all cells are."""
    if isinstance(value, list) and not any(isinstance(cell, list) for cell in cells):
        return lambda cell: cell in value
    return lambda cell: cell == value


def numeric(column: "Series") -> bool:
    """Whether a column holds numbers."""
    return column.dtype.kind in "iuf"


def attained(curve: "DataFrame", name: str, target: float, select: Select) -> float:
    """First evaluated round in which the mean of a metric over seeds attains a target; inf if none does.

    curve: rows of one algorithm at one point. A seed that diverged has no value, and a round in which any seed has none
    does not count. name: of the metric. select: of the experiment.
    """
    groups = curve.groupby("round")[name]
    mean = groups.mean()[groups.count() == curve["seed"].nunique()]
    there = mean[(mean <= target) if goal(name, select) == "min" else (mean >= target)]
    return float(there.index.min()) if len(there) else math.inf
