"""The grid: all combinations of lists of values, whose axes continue where the best value lies at an end."""

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from fedatlas.experiments.cells import Point
from fedatlas.experiments.runs import Search, product
from fedatlas.experiments.tuning import Outcomes, TuningRule, constants_of, end, option_of, size
from fedatlas.experiments.values import is_number, round_digits, scale_formula
from fedatlas.registry.options import Option


@dataclass(frozen=True, kw_only=True)
class Grid(TuningRule):
    """Compares all combinations of the values; an axis at whose end the best value lies is continued there."""

    name: ClassVar[str] = "grid"

    def lengthen(self, search: Search, best: Point, outcomes: Outcomes) -> Search:
        """Return a search with a value more on each axis at an end of which the best value lies.

        A new value is combined with all values of the other axes, as they are by then. It is not added if it is not
        possible with all of them.
        """
        spec, axes = outcomes.spec, search.axes
        for name in axes:
            value = next_value(spec.tune[name], axes[name], best[name], option_of(spec, name), outcomes.select.extend)
            if value is not None and all(map(outcomes.is_possible, product({**axes, name: [value]}))):
                axes = {**axes, name: [*axes[name], value]}
        return search if axes is search.axes else dataclasses.replace(search, axes=axes)


def next_value(initial: Sequence[Any], values: Sequence[Any], best: Any, option: Option, extend: int) -> Any:
    """Return the next value of an axis beyond the end where the best value lies, or None.

    It continues the axis by the ratio of its two outermost values there, rounded to 12 digits, and to a whole number
    where the option is one; of a formula it is a multiple. None where the best value lies inside, where the end was
    moved often enough, where not all values have the same constants, where one of the two values is not positive, and
    beyond the range of the option.

    Args:
        initial: Values of the axis in the experiment file.
        values: These and the values that were added.
        best: The best value.
        option: Declaration of what is tuned.
        extend: How often an end may be moved.
    """
    which = end(best, values)
    if not which or len({*map(constants_of, initial)}) > 1:
        return None
    value_of, now = {size(value): value for value in initial}, [*map(size, values)]
    outer, inner = sorted(value_of, reverse=which == "highest")[:2]
    moved = sum(value > outer if which == "highest" else value < outer for value in now)
    if min(outer, inner) <= 0 or moved >= extend:
        return None
    factor = (outer / inner) ** (moved + 1)
    if constants_of(value_of[outer]):
        return scale_formula(value_of[outer], factor)
    new = round_digits(outer * factor)
    if float not in option.members:
        new = math.floor(new + 0.5)
    elif new.is_integer() and all(isinstance(value, int) for value in initial):
        new = int(new)
    beyond = new > max(now) if which == "highest" else 0 < new < min(now)
    return new if beyond and is_number(new) and option.fits(new) else None
