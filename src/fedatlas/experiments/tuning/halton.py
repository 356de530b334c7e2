"""Trials: quasi-random points of a search space, and how the space grows while the best point lies near its border.

A space has a range (low, high) for each tuned hyper-parameter: two positive numbers, or two formulas of the same
constants, such as ``0.01/L`` and ``10/L``. Points are even on a logarithmic scale. They follow Halton's sequence (1960,
Numerische Mathematik 2), so that the first points of a longer search are those of a shorter one.
"""

import functools
import math
from collections.abc import Mapping, Sequence
from typing import Any

from fedatlas.experiments import formulas
from fedatlas.experiments.cells import Axes, Point, Space
from fedatlas.registry.options import Option

DIGITS = 4  # that trials have
BORDER = 1 / 8  # share of a range, at either end, in which the best value makes the range grow
GROWTH = 1 / 2  # by which share of its length a range grows; so many new trials are drawn, as a share of the first
TRIED = 50  # places of the sequence that are looked at for each point
PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29)


def draw(space: Space, options: Mapping[str, Option | None], count: int, excluded: Sequence[Point] = ()) -> Axes:
    """Return points of a space, as a list of values for each hyper-parameter.

    Args:
        space: Range of each hyper-parameter.
        options: Options by name; values of those that are whole numbers are rounded.
        count: Number of points, which all differ. There are fewer if whole numbers, or the ranges of the options, do
            not allow so many.
        excluded: Points that are not to be among them.
    """
    points: list[Point] = []
    before = {tuple(point[name] for name in space) for point in excluded}
    for index in range(len(excluded) + 1, len(excluded) + 1 + TRIED * count):
        if len(points) == count:
            break
        shares = [_halton(index, base) for base in PRIMES]
        point = {name: value_at(space[name], share, options[name]) for name, share in zip(space, shares, strict=False)}
        key = tuple(point.values())
        bounded = ((options[name], value) for name, value in point.items() if not isinstance(value, str))
        fits = (option is None or option.fits(value) for option, value in bounded)
        if key not in before and all(fits):
            before.add(key)
            points.append(point)
    return {name: [point[name] for point in points] for name in space}


def value_at(ends: Sequence[Any], share: float, option: Option | None = None) -> Any:
    """Return the value at a share of a range, on a logarithmic scale, with DIGITS digits."""
    low, high = ends
    factor = float(f"{(size(high) / size(low)) ** share:.{DIGITS}g}")
    if isinstance(low, str):
        return formulas.multiple(low, factor)
    value = float(f"{low * factor:.{DIGITS}g}")
    return value if option is None or float in option.members else math.floor(value + 0.5)


def range_share(ends: Sequence[Any], value: Any) -> float:
    """Return the position of a value in a range, on a logarithmic scale: 0 at the low end, 1 at the high one."""
    low, high = map(size, ends)
    return math.log(size(value) / low) / math.log(high / low)


def border(ends: Sequence[Any], value: Any) -> str:
    """Return ``lowest`` or ``highest`` if a value lies near that end of a range, else an empty text."""
    share = range_share(ends, value)
    return "lowest" if share < BORDER else "highest" if share > 1 - BORDER else ""


def count_moves(first: Sequence[Any], ends: Sequence[Any], which: str) -> int:
    """Return how often an end of a range was moved outwards since the search began with the range ``first``."""
    index = 0 if which == "lowest" else 1
    return round(abs(math.log(size(ends[index]) / size(first[index]))) / math.log(_factor(first)))


def grow(first: Sequence[Any], ends: Sequence[Any], which: str) -> tuple[list[Any], list[Any]]:
    """Return a range that is longer at one end, and the part that is new. Arguments are those of `count_moves`."""
    low, high = ends
    factor = _factor(first)
    if which == "lowest":
        new = _times(low, 1 / factor)
        return [new, high], [new, low]
    new = _times(high, factor)
    return [low, new], [high, new]


def size(value: Any) -> float:
    """Return the size of a number, or of a formula where all constants are 1."""
    return _formula_size(value) if isinstance(value, str) else float(value)


@functools.lru_cache(10_000)
def _formula_size(formula: str) -> float:
    return formulas.evaluate(formula, "range")


def _factor(first: Sequence[Any]) -> float:
    return (size(first[1]) / size(first[0])) ** GROWTH


def _times(value: Any, factor: float) -> Any:
    short = float(f"{factor:.{DIGITS}g}")
    return formulas.multiple(value, short) if isinstance(value, str) else float(f"{value * short:.{DIGITS}g}")


@functools.cache
def _halton(index: int, base: int) -> float:
    """Return the radical inverse of an index in a base: its digits behind the point, in reverse order."""
    inverse, digit = 0.0, 1 / base
    while index:
        index, rest = divmod(index, base)
        inverse += rest * digit
        digit /= base
    return inverse
