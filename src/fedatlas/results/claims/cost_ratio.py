"""The cost of a round, compared with that of other algorithms."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from fedatlas.experiments import labels
from fedatlas.registry.options import option
from fedatlas.results.claims.base import BoundedCheck, ContestCheck
from fedatlas.results.claims.evidence import exact_outcome
from fedatlas.results.claims.results import Results
from fedatlas.results.claims.verdicts import NotTested, Outcome
from fedatlas.results.comparing.intervals import match_seeds

if TYPE_CHECKING:
    import pandas as pd

ROUNDING = 1e-9  # of ratios of means over clients


@dataclass(frozen=True, kw_only=True)
class CostRatio(BoundedCheck, ContestCheck):
    """Held if a round of ``algorithm`` costs so many times as much as one of each of ``than``, in the bounds, in every
    run of every setting of ``where``.

    A round's cost is the mean over all rounds of a run. Runs of one seed are compared, which have the same active
    clients; every single one must pass.
    """

    name = "cost_ratio"

    cost: Literal["gradients", "samples", "vectors_up", "vectors_down"] = option(doc="what is counted")

    def judge(self, results: Results) -> Outcome:
        ours, texts, seeds = self._costs(results, self.algorithm), [], 0
        ratios: list[float] = []
        for rival in self.than:
            theirs = self._costs(results, rival)
            points = [point for point in ours if point in theirs]
            pairs = [pair for point in points for pair in match_seeds(ours[point], theirs[point])]
            if not pairs:
                raise NotTested(f"No seed has runs of both {results.name(self.algorithm)} and {results.name(rival)}")
            own = [_ratio(*pair) for pair in pairs]
            ratios, seeds = ratios + own, max(seeds, *(len(ours[point]) for point in points))
            ends = (labels.number(end) if math.isfinite(end) else "∞" for end in (min(own), max(own)))
            span, counted = " to ".join(dict.fromkeys(ends)), labels.COSTS[self.cost]
            texts.append(f"{span} times the {counted} of {results.name(rival)}, over {len(pairs)} runs of each")
        worst = max(ratios, key=self._excess)
        return exact_outcome("; ".join(texts), self._excess(worst) <= 0, seeds=seeds, value=worst)

    def _costs(self, results: Results, algorithm: str) -> dict[tuple[object, ...], dict[int, float]]:
        """Return the cost of a round by point of the axes and seed."""
        rows = results.rows(algorithm, self.where, results.curves)
        return {
            point: {seed: self._cost(curve) for seed, curve in part.groupby("seed")}
            for point, part in results.settings(rows)
        }

    def _cost(self, curve: "pd.DataFrame") -> float:
        last = curve.loc[curve["round"].idxmax()]
        if not last["round"]:
            raise NotTested("A run has no round")
        return float(last[self.cost] / last["round"])

    def _excess(self, ratio: float) -> float:
        """Return how far a ratio lies outside the bounds; not positive inside, or if rounding error may explain it."""
        limits = self.limits()
        return max(ratio - limits.high, limits.low - ratio) - ROUNDING


def _ratio(ours: float, theirs: float) -> float:
    """Return ours / theirs; 1 if both cost nothing."""
    if ours == theirs:
        return 1.0
    return ours / theirs if theirs else math.inf
