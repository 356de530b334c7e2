"""How the rounds that attain an accuracy fall along an axis."""

import math
from dataclasses import dataclass

from fedatlas.checks.averages import interval
from fedatlas.checks.base import Bounded, OfMetric, OfSeveral
from fedatlas.checks.results import NotTested, Outcome, Results
from fedatlas.options import option

LEVEL = 0.05  # probability that an interval misses the mean


@dataclass(frozen=True, kw_only=True)
class Falls(Bounded, OfMetric, OfSeveral):
    """Held if the rounds that attain an accuracy fall as a power of ``axis``, with an exponent in the bounds.

    Counted are the rounds until the metric first is at most ``until`` times its first value. The exponent is minus the
    slope of their logarithm against that of ``axis``, for each seed, over all settings of ``where``; Student's t
    interval of its mean, at 95 percent, must lie in the bounds, for all ``algorithms``. All runs must attain it.
    """

    name = "falls"

    axis: str = option(doc="axis of positive numbers, such as local_steps", names="axis of numbers")
    until: float = option(doc="share of the metric's first value that is attained", above=0, below=1)

    def judge(self, results: Results) -> Outcome:
        import numpy as np

        metric, texts, held, seeds = self.metric or results.view.select.metric, [], True, 0
        results.column(metric)
        results.check_axis("axis", self.axis)
        for algorithm in self.algorithms:
            rows = results.rows(algorithm, self.where, results.curves)
            if rows[self.axis].nunique() < 2:
                raise NotTested(f"Fewer than two values of {self.axis}")
            rows, runs = rows.sort_values("round"), [*results.axes, "seed"]
            there = rows[rows[metric] <= self.until * rows.groupby(runs, sort=False)[metric].transform("first")]
            counts = there.groupby(runs, sort=False)["round"].min()
            if len(counts) < len(rows[runs].drop_duplicates()):
                return Outcome(f"not attained by {results.name(algorithm)}", False)
            slopes = [
                -float(np.polyfit(np.log(part[self.axis].to_numpy(float)), np.log(part["round"].to_numpy(float)), 1)[0])
                for _, part in counts.reset_index().groupby("seed")
            ]
            low, high = interval(np.array(slopes), LEVEL, 2)
            held, seeds = held and self.within(low) and self.within(high), len(slopes)
            texts.append(
                f"{results.name(algorithm)}: exponent {math.fsum(slopes) / seeds:.3f} ({low:.3f} to {high:.3f})"
            )
        return Outcome("; ".join(texts), held, f"95 % intervals over {seeds} seeds.")
