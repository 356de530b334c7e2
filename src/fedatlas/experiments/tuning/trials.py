"""Trials: quasi-random points of a search space, which grows while the best one lies near its border."""

import dataclasses
import math
from dataclasses import dataclass
from typing import ClassVar

from fedatlas.experiments.cells import Point
from fedatlas.experiments.runs import Search, tuned_points
from fedatlas.experiments.tuning import Outcomes, TuningRule, border, option_of
from fedatlas.experiments.tuning.axes import GROWTH, draw, grow


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
