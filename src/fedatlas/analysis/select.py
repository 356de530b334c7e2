"""Choosing rows of a table or of curves by the values of its axes."""

from fedatlas.analysis.labels import parsed

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
