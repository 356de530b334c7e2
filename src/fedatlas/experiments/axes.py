"""Which axes an experiment can have together."""

from collections.abc import Mapping

from fedatlas.errors import UserError
from fedatlas.experiments.cells import Axes
from fedatlas.experiments.runs import SETTING
from fedatlas.experiments.scores import NO_METRICS


def check(sections: Mapping[str, Axes]) -> None:
    """Raise UserError if an axis has the name of a column, varies what runs of one file share, or undoes another.

    sections: the axes of grid, of within and of an algorithm's tuning, in which order their values are set.
    """
    before: dict[str, tuple[str, str]] = {}  # section and name of each axis, by the place whose value it sets
    for section, axes in sections.items():
        for name in axes:
            place = name if section != "tune" or name in SETTING else f"parameters.{name}"
            if name in NO_METRICS:
                raise UserError(f"{section}: {name!r} cannot be an axis, because results have a column of that name")
            if section == "within" and name.startswith("problem."):
                raise UserError(f"within: the runs of a file share their problem; move {name!r} to grid")
            for other, (where, called) in before.items():
                if _inside(other, place):
                    raise UserError(f"{section}: {name!r} would undo {called!r} of {where}; keep one of them")
                if _inside(place, other) and section == where == "grid":
                    raise UserError(
                        f"grid: {name!r} lies inside {called!r}; move it to within, or write all values out"
                    )
            before[place] = (section, name)


def _inside(place: str, other: str) -> bool:
    """Whether a place is another one or lies inside it."""
    return f"{place}.".startswith(f"{other}.")
