"""Choosing rows of a table or of curves by the values of its axes."""

import math

from fedatlas.labels import parsed

EXTREMES = ("max", "min")


def matching(frame, where):
    """Rows whose axes have the values of where.

    where: {axis: value}; a list keeps any of its values, ``max`` and ``min`` the largest and smallest among the rows
    that the other axes leave. Mappings and lists are compared with the JSON text that tables hold.
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


def holds(column, value):
    """Which cells of a column have a value, as a boolean Series."""
    cells = column.map(parsed)
    if isinstance(value, list) and not cells.map(lambda cell: isinstance(cell, list)).any():
        return cells.map(lambda cell: cell in value)
    return cells.map(lambda cell: cell == value).astype(bool)


def numeric(column):
    """Whether a column holds numbers."""
    return column.dtype.kind in "iuf"


def goal(metric, select):
    """``min`` or ``max``: which values of a metric are good. select: of the experiment."""
    if metric == select["metric"]:
        return select["goal"]
    return "max" if "accuracy" in metric else "min"


def attained(curve, metric, target, select):
    """First evaluated round in which the mean of a metric over seeds attains a target; inf if none does.

    curve: rows of one algorithm at one point. A seed that diverged has no value, and rounds where one has none are out.
    """
    groups = curve.groupby("round")[metric]
    mean = groups.mean()[groups.count() == curve["seed"].nunique()]
    there = mean[(mean <= target) if goal(metric, select) == "min" else (mean >= target)]
    return float(there.index.min()) if len(there) else math.inf
