"""The cost of attaining an accuracy, compared with that of other algorithms."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fedatlas import labels
from fedatlas.checks.base import Bounded, Contest, OfMetric
from fedatlas.checks.results import NotTested, Outcome, Results
from fedatlas.errors import UserError, lookup
from fedatlas.options import option

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Fewer(Bounded, OfMetric, Contest):
    """Held if ``algorithm`` costs so many times less than each of ``than``, in the bounds, until the metric's mean over
    seeds is ``reduction`` times its first value, or attains ``target``, in every setting of ``where``. Without either
    the costs of all rounds are compared."""

    name = "fewer"

    reduction: float | None = option(None, doc="share of the metric's first value that must be attained", above=0)
    target: float | None = option(None, doc="value of the metric that must be attained, instead of a reduction")
    cost: str = option("rounds", doc="what is counted", names="cost")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.reduction is not None and self.target is not None:
            raise UserError(f"{self.title()}: give reduction or target, not both")

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
            there = mean[complete & self._attained(mean, results.goal(metric))]
            found[point] = float(costs[there.index[0]]) if len(there) else math.inf
        return found

    def _attained(self, mean: "pd.Series", goal: str) -> "np.ndarray | pd.Series":
        """Of which evaluations the costs may be compared. mean: the metric by round, (rounds,)."""
        if self.target is not None:
            return mean <= self.target if goal == "min" else mean >= self.target
        if self.reduction is not None:
            return mean <= self.reduction * mean.iloc[0]
        return mean.index == mean.index[-1]


def _text(ours: float, theirs: float, ratio: float | None) -> str:
    if ratio is None or not math.isfinite(ratio):
        return "not attained" if ratio is None else "attained by it alone"
    return f"{labels.number(ratio)} times ({labels.number(ours)} against {labels.number(theirs)})"


def _ratio(ours: float, theirs: float) -> float | None:
    """theirs / ours; infinite if only ours attains the accuracy, None if ours does not."""
    if not math.isfinite(ours):
        return None
    return theirs / ours if ours > 0 else math.inf
