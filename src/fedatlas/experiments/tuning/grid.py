"""The grid: all combinations of lists of values, whose axes continue where the best value lies at an end."""

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from fedatlas.experiments.cells import CellSpec, Point, Search
from fedatlas.experiments.runs import product, search_trials
from fedatlas.experiments.tuning.axes import next_value
from fedatlas.experiments.tuning.base import Evaluations, TuningRule, median_scores, option_of, ranking


@dataclass(frozen=True, kw_only=True)
class Grid(TuningRule):
    """Compares all combinations of the values; an axis at whose end the best value lies is continued there."""

    name: ClassVar[str] = "grid"

    def advance(
        self, spec: CellSpec, search: Search, evaluations: Evaluations, is_possible: Callable[[Point], bool]
    ) -> Search:
        """Add a value to each axis at an end of which the best value lies, or choose the best value.

        A new value is combined with all values of the other axes, as they are by then. It is not added if it is not
        possible with all of them.
        """
        assert spec.select is not None  # a search has a choice
        trials = search_trials(search)
        scores = median_scores(spec.select, trials, search.seeds, evaluations)
        best = ranking(scores, spec.select)[0]
        point = trials[best].point
        longer = self.lengthen(spec, search, point, is_possible) if math.isfinite(scores[best]) else search
        return dataclasses.replace(search, chosen=point) if longer is search else longer

    def lengthen(self, spec: CellSpec, search: Search, best: Point, is_possible: Callable[[Point], bool]) -> Search:
        """Return a search with a value more on each axis at an end of which the best value lies."""
        assert spec.select is not None
        axes = search.axes
        for name in axes:
            value = next_value(spec.tune[name], axes[name], best[name], option_of(spec, name), spec.select.extend)
            if value is not None and all(map(is_possible, product({**axes, name: [value]}))):
                axes = {**axes, name: [*axes[name], value]}
        return search if axes is search.axes else dataclasses.replace(search, axes=axes)
