"""How the cost of an accuracy grows along an axis."""

import math
from dataclasses import dataclass

from fedatlas import labels
from fedatlas.checks.base import Bounded, OfMetric, OfOne
from fedatlas.checks.fewer import costs
from fedatlas.checks.results import NotTested, Outcome, Results
from fedatlas.errors import lookup
from fedatlas.experiments.selection import numeric
from fedatlas.options import option


@dataclass(frozen=True, kw_only=True)
class CostSlope(Bounded, OfMetric, OfOne):
    """Held if the slope of the log of a cost against log ``axis`` lies in the bounds. The cost is that until the
    metric's mean over seeds is ``reduction`` times its first value; it must be attained in every setting of ``where``,
    and be at most ``limit`` if that is given.

    A slope of 1 is a cost that is proportional to the axis, 0 one that does not depend on it.
    """

    name = "cost_slope"

    axis: str = option(doc="axis of numbers", names="axis of numbers")
    reduction: float = option(doc="share of the metric's first value that must be attained", above=0, high=1)
    cost: str = option("rounds", doc="what is counted", names="cost")
    limit: float | None = option(None, doc="largest cost that passes, in any setting")

    def measures(self) -> set[str]:
        return {self.axis}

    def judge(self, results: Results) -> Outcome:
        import numpy as np

        metric = self.metric or results.view.select.metric
        results.column(metric)
        results.check_axis("axis", self.axis)
        lookup("cost", self.cost, labels.COSTS)
        found = costs(results, self.algorithm, self.where, metric, self.reduction, self.cost)
        place = results.axes.index(self.axis)
        pairs = [(float(point[place]), cost) for point, cost in sorted(found.items(), key=lambda one: one[0][place])]
        if not numeric(results.rows(self.algorithm, self.where)[self.axis]) or len({at for at, _ in pairs}) < 2:
            raise NotTested(f"Fewer than two values of {self.axis}")
        reached = ", ".join(labels.number(cost) if math.isfinite(cost) else "never" for _, cost in pairs)
        note = f"{labels.COSTS[self.cost].capitalize()}: {reached}."
        if not all(math.isfinite(cost) and cost > 0 and at > 0 for at, cost in pairs):
            return Outcome("not attained everywhere", False, note)
        logs = np.log(np.array(pairs))
        slope = float(np.polyfit(logs[:, 0], logs[:, 1], 1)[0])
        dear = self.limit is not None and max(cost for _, cost in pairs) > self.limit
        return Outcome(f"slope {slope:.2f}", self.within(slope) and not dear, note)
