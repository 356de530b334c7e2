"""Axes of tuned values: where their ends are, and how they are continued."""

import contextlib
import math
from collections.abc import Sequence
from typing import Any

from fedatlas.errors import UserError
from fedatlas.experiments import axis_values, formulas
from fedatlas.registry.options import Option


def next_value(initial: Sequence[Any], values: Sequence[Any], best: Any, option: Option | None, extend: int) -> Any:
    """Return the next value of an axis beyond the end where the best value lies, or None.

    It continues the axis by the ratio of its two outermost values there, rounded to 12 digits, and to a whole number
    where the option is one; of a formula it is a multiple. None where the best value lies inside, where the end was
    moved often enough, where the axis has a value that is neither a number nor a formula, where not all of them have
    the same constants, where one of the two values is not positive, and beyond the range of the option.

    Args:
        initial: Values of the axis in the experiment file.
        values: These and the values that were added.
        best: The best value.
        option: Declaration of what is tuned.
        extend: How often an end may be moved.
    """
    which, sizes, now = end(best, values), _sizes(initial), _sizes(values)
    if not which or option is None or not sizes:
        return None
    if any(isinstance(value, str) for value in initial) and (
        option.words or option.family or len({*map(_constants, initial)}) > 1
    ):
        return None
    value_of = dict(zip(sizes, initial, strict=True))
    outer, inner = sorted(value_of, reverse=which == "highest")[:2]
    moved = sum(value > outer if which == "highest" else value < outer for value in now)
    if min(outer, inner) <= 0 or moved >= extend:
        return None
    try:
        factor = (outer / inner) ** (moved + 1)
    except OverflowError:
        return None
    if _constants(value_of[outer]):
        return formulas.multiple(value_of[outer], factor)
    new = formulas.round_digits(outer * factor)
    if float not in option.members:
        new = math.floor(new + 0.5)
    elif new.is_integer() and all(isinstance(value, int) for value in initial):
        new = int(new)
    beyond = new > max(now) if which == "highest" else 0 < new < min(now)
    return new if beyond and axis_values.is_number(new) and option.fits(new) else None


def end(value: Any, values: Sequence[Any]) -> str:
    """``lowest`` or ``highest`` if a tuned value lies at that end of its axis, else nothing.

    Numbers are ordered by themselves, formulas by their values where all constants are 1; words have no order, and
    neither have a number and a formula of constants.
    """
    sizes = {number: value_of_size for value_of_size in values if (number := size(value_of_size)) is not None}
    if len(sizes) < 2 or len({_constants(value_of_size) != set() for value_of_size in sizes.values()}) > 1:
        return ""
    ends = {"lowest": sizes[min(sizes)], "highest": sizes[max(sizes)]}
    return next((name for name, number in ends.items() if axis_values.equal(number, value)), "")


def size(value: Any) -> float | None:
    """Return the number that orders a value of an axis; None for a value without order."""
    if isinstance(value, str):
        with contextlib.suppress(UserError):
            return formulas.evaluate(value, "")
        return None
    return None if isinstance(value, bool) or not isinstance(value, (int, float)) else value


def _sizes(values: Sequence[Any]) -> list[float]:
    """Return the numbers that order the values of an axis; an empty list if one has no order."""
    sizes = [size(value) for value in values]
    return [] if None in sizes else [number for number in sizes if number is not None]


def _constants(value: Any) -> frozenset[str]:
    """Return the names of the constants in a formula; none in a number."""
    return frozenset(formulas.constants(value, "") if isinstance(value, str) else ())
