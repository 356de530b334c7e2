"""The grid: all combinations of lists of values, whose axes continue where the best value lies at an end."""

import dataclasses
from dataclasses import dataclass
from typing import ClassVar

from fedatlas.experiments.cells import Point
from fedatlas.experiments.runs import Search, product
from fedatlas.experiments.tuning import Outcomes, TuningRule, option_of
from fedatlas.experiments.tuning.axes import next_value


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
