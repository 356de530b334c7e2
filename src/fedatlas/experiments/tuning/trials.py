"""Trials: quasi-random points of a search space, which grows while the best one lies near its border."""

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from fedatlas.experiments.cells import CellSpec, Point, Search
from fedatlas.experiments.runs import tuned_points
from fedatlas.experiments.tuning import halton
from fedatlas.experiments.tuning.base import TuningRule, option_of


@dataclass(frozen=True, kw_only=True)
class Trials(TuningRule):
    """Compares points of Halton's sequence; while the best one lies near the border of the space, the space grows."""

    name: ClassVar[str] = "trials"

    def lengthen(self, spec: CellSpec, search: Search, best: Point, is_possible: Callable[[Point], bool]) -> Search:
        """Return a search with trials beyond the borders near which the best one lies."""
        assert spec.space is not None and search.space is not None and spec.select is not None
        first, space, axes = spec.space, dict(search.space), search.axes
        options = {name: option_of(spec, name) for name in space}
        parts = {}
        for name, ends in search.space.items():
            side = halton.border(ends, best[name])
            if side and halton.count_moves(first[name], ends, side) < spec.select.extend:
                space[name], parts[name] = halton.grow(first[name], ends, side)
        count = math.ceil(halton.GROWTH * len(next(iter(spec.tune.values()))))
        for name, part in parts.items():
            points = tuned_points(dataclasses.replace(search, axes=axes))
            added = halton.draw({**space, name: part}, options, count, points)
            rows = [point for point in tuned_points(Search({}, added, None, space)) if is_possible(point)]
            axes = {axis: [*values, *(row[axis] for row in rows)] for axis, values in axes.items()}
        longer = len(next(iter(axes.values()))) > len(next(iter(search.axes.values())))
        return dataclasses.replace(search, axes=axes, space=space) if longer else search
