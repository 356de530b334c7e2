"""The grid: all combinations of lists of values, whose axes continue where the best value lies at an end."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from fedatlas.experiments.cells import CellSpec, Point, Search
from fedatlas.experiments.runs import product, search_trials
from fedatlas.experiments.tuning.axes import next_value
from fedatlas.experiments.tuning.base import Evaluations, TuningRule, mean_scores, option_of, ranking


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
        assert spec.select is not None
        trials = search_trials(search)
        scores = mean_scores(spec, trials, evaluations)
        best = ranking(scores, spec.select)[0]
        point, axes = trials[best].point, search.axes
        for name in axes if math.isfinite(scores[best]) else ():
            value = next_value(spec.tune[name], axes[name], point[name], option_of(spec, name), spec.select.extend)
            if value is not None and all(map(is_possible, product({**axes, name: [value]}))):
                axes = {**axes, name: [*axes[name], value]}
        return Search(search.within, axes, point if axes is search.axes else None)
