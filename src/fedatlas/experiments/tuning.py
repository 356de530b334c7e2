"""The search for the best tuned value: how values are compared, and when an axis is continued.

A value's score is the mean over the tuning seeds. A value with which a run diverged is chosen only if all of them
diverge; then it is the first. While the best value lies at an end of an axis, the axis is continued there.
"""

import contextlib
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fedatlas import algorithms, axis_values
from fedatlas.errors import UserError
from fedatlas.experiments import formulas, scores
from fedatlas.experiments.cells import CellSpec, Point, Search, Select
from fedatlas.experiments.runs import SETTING, product
from fedatlas.options import Option, options
from fedatlas.simulation.setting import Setting

Rows = Sequence[Mapping[str, Any]]  # evaluations of a run


def advanced(
    spec: CellSpec, search: Search, rows: Callable[[Point, int], Rows], possible: Callable[[Point], bool]
) -> Search:
    """A search after the runs of all its values: with longer axes, or with the chosen value.

    Each axis at an end of which the best value lies gets one value there. It is combined with all values of the other
    axes, as they are by then. It is left out if it is not possible with all of them.

    rows: of the run of a tuned value and a tuning seed. possible: whether a tuned value can be run.
    """
    assert spec.select is not None  # a search that is not over has a choice
    points = product(search.axes)
    found = [_mean([score(rows(point, seed), spec.select) for seed in spec.tuning_seeds]) for point in points]
    sign = 1 if goal(spec.select) == "min" else -1
    best = min(range(len(points)), key=lambda place: sign * found[place])
    axes = search.axes
    for name in axes if math.isfinite(found[best]) else ():
        new = continued(spec.tune[name], axes[name], points[best][name], option_of(spec, name), spec.select.extend)
        if new is not None and all(map(possible, product({**axes, name: [new]}))):
            axes = {**axes, name: [*axes[name], new]}
    return Search(search.within, axes, points[best] if axes is search.axes else None)


def goal(select: Select) -> str:
    """``min`` or ``max``: which values of the metric that tunes are good."""
    return scores.goal(select.tuning_metric, select)


def score(rows: Rows, select: Select) -> float:
    """The score of a run that tunes, from its evaluations. What diverged, or has none, has the worst."""
    values = [float(row[select.tuning_metric]) for row in rows if row["round"] > 0]
    found = scores.of_values(values, select.statistic, goal(select), select.last)
    return scores.worst(goal(select)) if rows[-1]["status"] == "diverged" or math.isnan(found) else found


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def option_of(spec: CellSpec, name: str) -> Option | None:
    """The declaration of what is tuned: a key of the setting, or a hyper-parameter."""
    return (options(Setting) if name in SETTING else algorithms.get(spec.algorithm).options()).get(name)


def continued(given: Sequence[Any], values: Sequence[Any], best: Any, option: Option | None, extend: int) -> Any:
    """The next value of an axis beyond the end where the best value lies, or None.

    It continues the axis by the ratio of its two outermost values there, rounded to 12 digits, and to a whole number
    where the option is one; of a formula it is a multiple. None where the best value lies inside, where the end was
    moved often enough, where the axis has a value that is no number and no formula, where not all of them have the same
    constants, where one of the two values is not positive, and beyond the range of the option.

    given: the values of the axis in the experiment file. values: those and what was added. extend: how often an end may
    be moved.
    """
    which, sizes, now = end(best, values), _sizes(given), _sizes(values)
    if not which or option is None or not sizes:
        return None
    if any(isinstance(value, str) for value in given) and (option.words or len({*map(_constants, given)}) > 1):
        return None
    known = dict(zip(sizes, given, strict=True))
    outer, inner = sorted(known, reverse=which == "highest")[:2]
    moved = sum(value > outer if which == "highest" else value < outer for value in now)
    if min(outer, inner) <= 0 or moved >= extend:
        return None
    try:
        factor = (outer / inner) ** (moved + 1)
    except OverflowError:
        return None
    if _constants(known[outer]):
        return formulas.multiple(known[outer], factor)
    new = formulas.rounded(outer * factor)
    if float not in option.members:
        new = math.floor(new + 0.5)
    elif new.is_integer() and all(isinstance(value, int) for value in given):
        new = int(new)
    beyond = new > max(now) if which == "highest" else 0 < new < min(now)
    return new if beyond and axis_values.number(new) and option.fits(new) else None


def end(value: Any, values: Sequence[Any]) -> str:
    """``lowest`` or ``highest`` if a tuned value lies at that end of its axis, else nothing.

    Numbers are ordered by themselves, formulas by their values where all constants are 1; words have no order, and
    neither have a number and a formula of constants.
    """
    sizes = {one: given for given in values if (one := size(given)) is not None}
    if len(sizes) < 2 or len({_constants(given) != set() for given in sizes.values()}) > 1:
        return ""
    ends = {"lowest": sizes[min(sizes)], "highest": sizes[max(sizes)]}
    return next((name for name, one in ends.items() if axis_values.same(one, value)), "")


def size(value: Any) -> float | None:
    """What orders the values of an axis; None of what has no order."""
    if isinstance(value, str):
        with contextlib.suppress(UserError):
            return formulas.evaluate(value, "")
        return None
    return None if isinstance(value, bool) or not isinstance(value, (int, float)) else value


def _sizes(values: Sequence[Any]) -> list[float]:
    """What orders the values of an axis; nothing if one of them has no order."""
    sizes = [size(value) for value in values]
    return [] if None in sizes else [one for one in sizes if one is not None]


def _constants(value: Any) -> frozenset[str]:
    return frozenset(formulas.names(value))
