"""Trials: quasi-random points of a search space, which grows while the best one lies near its border.

A space has a range (low, high) for each tuned hyper-parameter: two positive numbers, or two formulas of the same
constants, such as ``0.01/L`` and ``10/L``. Trials are even on a logarithmic scale. They follow Halton's sequence (1960,
Numerische Mathematik 2), so that the first trials of a longer search are those of a shorter one.
"""

import dataclasses
import functools
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from fedatlas.experiments.cells import Axes, Point, Space
from fedatlas.experiments.runs import Search, tuned_points
from fedatlas.experiments.tuning import Outcomes, TuningRule, border, option_of, size
from fedatlas.experiments.values import scale_formula
from fedatlas.registry.options import Option

DIGITS = 4  # that trials have
GROWTH = 1 / 2  # by which share of its length a range grows; so many new trials are drawn, as a share of the first
TRIED = 50  # places of the sequence that are looked at for each point
PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29)


@dataclass(frozen=True, kw_only=True)
class Trials(TuningRule):
    """Compares points of Halton's sequence; while the best one lies near the border of the space, the space grows."""

    name: ClassVar[str] = "trials"

    def lengthen(self, search: Search, best: Point, outcomes: Outcomes) -> Search:
        """Return a search with trials beyond the borders near which the best one lies."""
        spec = outcomes.spec
        assert spec.space is not None and search.space is not None
        space, longer = dict(search.space), search
        options = {name: option_of(spec, name) for name in space}
        parts = {}
        for name, ends in search.space.items():
            side = border(ends, best[name])
            if side and (grown := grow(spec.space[name], ends, side, outcomes.select.extend)):
                space[name], parts[name] = grown
        count = math.ceil(GROWTH * len(next(iter(spec.tune.values()))))
        for name, part in parts.items():
            added = draw({**space, name: part}, options, count, tuned_points(longer))
            rows = [point for point in tuned_points(Search({}, added, None, space)) if outcomes.is_possible(point)]
            axes = {axis: [*values, *(row[axis] for row in rows)] for axis, values in longer.axes.items()}
            longer = dataclasses.replace(longer, axes=axes)
        return search if longer.axes == search.axes else dataclasses.replace(longer, space=space)


def draw(space: Space, options: Mapping[str, Option], count: int, excluded: Sequence[Point] = ()) -> Axes:
    """Return points of a space, as a list of values for each hyper-parameter.

    Args:
        space: Range of each hyper-parameter.
        options: Options by name; values of those that are whole numbers are rounded.
        count: Number of points, which all differ. There are fewer if whole numbers, or the ranges of the options, do
            not allow so many.
        excluded: Points that are not to be among them.
    """
    points: list[tuple[Any, ...]] = []
    before = {tuple(point[name] for name in space) for point in excluded}
    for index in itertools.islice(itertools.count(len(excluded) + 1), TRIED * count):
        if len(points) == count:
            break
        bases = zip(space.items(), PRIMES, strict=False)
        point = tuple(_value_at(ends, _halton(index, base), options[name]) for (name, ends), base in bases)
        fits = (isinstance(v, str) or options[name].fits(v) for name, v in zip(space, point, strict=True))
        if point not in before and all(fits):
            before.add(point)
            points.append(point)
    return {name: [point[at] for point in points] for at, name in enumerate(space)}


def _value_at(ends: Sequence[Any], share: float, option: Option) -> Any:
    """Return the value at a share of a range, on a logarithmic scale."""
    value = times(ends[0], (size(ends[1]) / size(ends[0])) ** share)
    return value if isinstance(value, str) or float in option.members else math.floor(value + 0.5)


def times(value: Any, factor: float) -> Any:
    """Return a number or a formula times a factor, with DIGITS digits."""
    short = float(f"{factor:.{DIGITS}g}")
    return scale_formula(value, short) if isinstance(value, str) else float(f"{value * short:.{DIGITS}g}")


@functools.cache
def _halton(index: int, base: int) -> float:
    """Return the radical inverse of an index in a base: its digits behind the point, in reverse order."""
    inverse, digit = 0.0, 1 / base
    while index:
        index, rest = divmod(index, base)
        inverse += rest * digit
        digit /= base
    return inverse


def grow(first: Sequence[Any], ends: Sequence[Any], which: str, extend: int) -> tuple[list[Any], list[Any]] | None:
    """Return a range that is longer at one end, and the part that is new; None where it has grown often enough there.

    Args:
        first: The range in which the search began.
        ends: The range as it is now.
        which: The end, ``lowest`` or ``highest``.
        extend: How often an end may be moved.
    """
    at, factor = ("lowest", "highest").index(which), (size(first[1]) / size(first[0])) ** GROWTH
    moved = round(abs(math.log(size(ends[at]) / size(first[at]))) / math.log(factor))
    if moved >= extend:
        return None
    new = times(ends[at], factor if at else 1 / factor)
    return ([ends[0], new], [ends[1], new]) if at else ([new, ends[1]], [new, ends[0]])
