"""The cost of attaining an accuracy, compared with that of other algorithms."""

import math
from dataclasses import dataclass
from typing import Any

from fedatlas import labels
from fedatlas.checks.base import Bounded, Contest, OfMetric
from fedatlas.checks.results import NotTested, Outcome, Results
from fedatlas.errors import lookup
from fedatlas.options import option


@dataclass(frozen=True, kw_only=True)
class Fewer(Bounded, OfMetric, Contest):
    """Held if ``algorithm`` costs so many times less than each of ``than``, in the bounds, until the metric's mean over
    seeds is ``reduction`` times its first value, in every setting of ``where``. Without a reduction the costs of all
    rounds are compared."""

    name = "fewer"

    reduction: float | None = option(None, doc="share of the metric's first value that must be attained", above=0)
    cost: str = option("rounds", doc="what is counted", names="cost")

    def judge(self, results: Results) -> Outcome:
        metric = self.metric or results.view.select.metric
        results.column(metric)
        lookup("cost", self.cost, labels.COSTS)
        ours, held, texts = self._costs(results, self.algorithm, metric), True, []
        for other in self.than:
            theirs = self._costs(results, other, metric)
            for point in [point for point in ours if point in theirs]:
                ratio = _ratio(ours[point], theirs[point])
                held &= ratio is not None and self.within(ratio)
                place = results.point(point)
                texts.append(f"{_text(ours[point], theirs[point], ratio)}{' at ' + place if place else ''}")
        if not texts:
            raise NotTested("No setting has results of both")
        return Outcome("; ".join(texts), held)

    def _costs(self, results: Results, algorithm: str, metric: str) -> dict[tuple[Any, ...], float]:
        """Cost of attaining the accuracy by point of the axes, infinite where it is not attained or seeds diverge."""
        column, found = "round" if self.cost == "rounds" else self.cost, {}
        rows = results.rows(algorithm, self.where, results.curves)
        for point, curve in results.settings(rows):
            groups = curve.groupby("round")
            complete = groups[metric].count() == curve["seed"].nunique()  # a seed that diverged has no value
            mean = groups[metric].mean()
            costs = groups[column].mean() if column != "round" else mean.index.to_series()
            last = mean.index == mean.index[-1]
            there = mean[complete & (last if self.reduction is None else mean <= self.reduction * mean.iloc[0])]
            found[point] = float(costs[there.index[0]]) if len(there) else math.inf
        return found


def _text(ours: float, theirs: float, ratio: float | None) -> str:
    if ratio is None or not math.isfinite(ratio):
        return "not attained" if ratio is None else "attained by it alone"
    return f"{labels.number(ratio)} times ({labels.number(ours)} against {labels.number(theirs)})"


def _ratio(ours: float, theirs: float) -> float | None:
    """theirs / ours; infinite if only ours attains the accuracy, None if ours does not."""
    if not math.isfinite(ours):
        return None
    return theirs / ours if ours > 0 else math.inf
