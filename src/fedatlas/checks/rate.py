"""Rates: how a number falls with the rounds of a run or with its local steps."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fedatlas.checks.base import Bounded, OfMetric, OfSeveral
from fedatlas.checks.results import NotTested, Outcome, Results
from fedatlas.options import option

if TYPE_CHECKING:
    import pandas as pd

LEVEL = 0.95


@dataclass(frozen=True, kw_only=True)
class Rate(Bounded, OfMetric, OfSeveral):
    """Held if a number falls as a power, whose exponent lies in the bounds with its whole interval over the seeds.

    With ``until``, the number is the rounds until the metric first is this share of its first value. Without it, the
    number is 1/T times the sum of the metric's square over the rounds t = 1, ..., T-1 of a run of T rounds, as in
    FedSpeed's Theorem 4.4. The exponent is minus the slope of its logarithm against the logarithm of ``axis``, or
    without an axis of T, over all ``algorithms`` and settings of ``where``, one for each seed. The interval is
    Student's t at 95 percent. All runs must reach ``until``, and none may diverge.
    """

    name = "rate"

    axis: str | None = option(None, doc="axis of positive numbers; by default the rounds of the run", names="axis")
    until: float | None = option(None, doc="share of the metric's first value that is attained", above=0, below=1)

    def measures(self) -> set[str]:
        return set() if self.axis is None else {self.axis}

    def judge(self, results: Results) -> Outcome:
        import numpy as np
        from scipy import stats

        results.column(self.metric)
        points: dict[int, list[tuple[float, float]]] = {}
        for seed, x, y in self._points(results):
            points.setdefault(seed, []).append((x, y))
        if len(points) < 2:
            raise NotTested("An interval needs two seeds at least")
        if len({x for x, _ in next(iter(points.values()))}) < 2:
            raise NotTested("A slope needs two values on its axis")
        if not all(math.isfinite(y) and y > 0 for pairs in points.values() for _, y in pairs):
            return Outcome("diverged, or the share is not attained", False)
        logs = [np.log(np.array(pairs)) for pairs in points.values()]
        slopes = [-float(np.polyfit(pairs[:, 0], pairs[:, 1], 1)[0]) for pairs in logs]
        mean, error = float(np.mean(slopes)), float(np.std(slopes, ddof=1)) / math.sqrt(len(slopes))
        half = float(stats.t.ppf((1 + LEVEL) / 2, len(slopes) - 1)) * error
        ours = f"exponent {mean:.3f}, {mean - half:.3f} to {mean + half:.3f}"
        held = self.within(mean - half) and self.within(mean + half)
        return Outcome(ours, held, f"95 % interval over {len(slopes)} seeds.")

    def _points(self, results: Results) -> Iterator[tuple[int, float, float]]:
        """Seed, value on the axis, and the number, of every run."""
        for algorithm in self.algorithms:
            rows = results.rows(algorithm, self.where, results.curves)
            for _, part in results.settings(rows):
                for seed, curve in part.groupby("seed"):
                    curve = curve.sort_values("round")
                    x = curve["round"].iloc[-1] if self.axis is None else curve[self.axis].iloc[0]
                    yield int(seed), float(x), self._number(curve, self.metric or results.view.select.metric)

    def _number(self, curve: "pd.DataFrame", metric: str) -> float:
        values, rounds = curve[metric].to_numpy(float), curve["round"].to_numpy(float)
        if self.until is None:
            return float((values[1:-1] ** 2).sum() / rounds[-1]) if len(values) == rounds[-1] + 1 else math.nan
        there = (values <= self.until * values[0]).nonzero()[0]
        return float(rounds[there[0]]) if len(there) else math.inf
