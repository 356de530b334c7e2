"""The grid: all combinations of lists of values, whose axes continue where the best value lies at an end."""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from fedatlas.experiments.cells import CellSpec, Point, Search
from fedatlas.experiments.runs import product
from fedatlas.experiments.tuning.axes import next_value
from fedatlas.experiments.tuning.base import TuningRule, option_of


@dataclass(frozen=True, kw_only=True)
class Grid(TuningRule):
    """Compares all combinations of the values; an axis at whose end the best value lies is continued there."""

    name: ClassVar[str] = "grid"

    def lengthen(self, spec: CellSpec, search: Search, best: Point, is_possible: Callable[[Point], bool]) -> Search:
        """Return a search with a value more on each axis at an end of which the best value lies.

        A new value is combined with all values of the other axes, as they are by then. It is not added if it is not
        possible with all of them.
        """
        assert spec.select is not None
        axes = search.axes
        for name in axes:
            value = next_value(spec.tune[name], axes[name], best[name], option_of(spec, name), spec.select.extend)
            if value is not None and all(map(is_possible, product({**axes, name: [value]}))):
                axes = {**axes, name: [*axes[name], value]}
        return search if axes is search.axes else dataclasses.replace(search, axes=axes)
