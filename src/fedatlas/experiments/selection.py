"""Selection of rows of a table or of curves by the values of axes."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fedatlas.experiments import axis_values
from fedatlas.experiments.cells import Select
from fedatlas.experiments.scores import goal

if TYPE_CHECKING:
    from pandas import DataFrame, Series

EXTREMES = ("max", "min")


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
    values = [{axis: axis_values.parse(cell) for axis, cell in point.items()} for point in points]
    return frame[codes.isin(select_points(values, where))]


def select_points(points: Sequence[Mapping[str, Any]], where: Mapping[str, Any] | None) -> list[int]:
    """Places of the points that `select_rows` would keep, without a DataFrame.

    points: {axis: value}, all of the same axes. where: as of ``select_rows``.
    """
    places, extremes = list(range(len(points))), {}
    columns = {axis: [point[axis] for point in points] for axis in where or {}}
    for axis, value in (where or {}).items():
        if isinstance(value, str) and value in EXTREMES and axis_values.are_numbers(columns[axis]):
            extremes[axis] = max if value == "max" else min
        else:
            mask = axis_values.matches(columns[axis], value)
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


def rounds_to_target(curve: "DataFrame", name: str, target: float, select: Select) -> float:
    """Return the first evaluated round in which the mean of a metric over seeds attains a target; inf if none does.

    curve: evaluations of an algorithm at a point. A seed that diverged has no value, and a round in which any seed has
    none does not count.
    """
    groups = curve.groupby("round")[name]
    mean = groups.mean()[groups.count() == curve["seed"].nunique()]
    attaining = mean[(mean <= target) if goal(name, select) == "min" else (mean >= target)]
    return float(attaining.index.min()) if len(attaining) else math.inf
