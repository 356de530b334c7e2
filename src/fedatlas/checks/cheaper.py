"""The cost of attaining an accuracy against that of other algorithms, seed by seed."""

import math
from dataclasses import dataclass

from fedatlas import labels
from fedatlas.checks.base import Contest, OfMetric
from fedatlas.checks.costs import interval, spent
from fedatlas.checks.results import NotTested, Outcome, Results
from fedatlas.errors import lookup
from fedatlas.options import option


@dataclass(frozen=True, kw_only=True)
class Cheaper(OfMetric, Contest):
    """Held if ``algorithm`` spends less than each of ``than`` until the metric is ``share`` times its first value, by
    more than ``factor``, in every setting of ``where``.

    Runs of one seed are compared. Student's t interval, at 95 percent, of the mean of log(theirs / ours) over seeds
    must lie above log(factor).
    """

    name = "cheaper"

    share: float = option(doc="share of the metric's first value that is attained", above=0, below=1)
    cost: str = option("rounds", doc="what is counted", names="cost")
    factor: float = option(1, doc="how many times less it must spend", above=0)

    def judge(self, results: Results) -> Outcome:
        metric = self.metric or results.view.select.metric
        results.column(metric)
        lookup("cost", self.cost, labels.COSTS)
        ours, texts, held = self._costs(results, self.algorithm, metric), [], True
        for other in self.than:
            theirs = self._costs(results, other, metric)
            found = [self._compare(ours[point], theirs[point]) for point in ours if point in theirs]
            if not found:
                raise NotTested("No setting has results of both")
            low, high = min(low for low, _ in found), max(high for _, high in found)
            held &= low > self.factor  # false of what is not a number
            text = f"{low:.3g} to {high:.3g} times less" if math.isfinite(low) else "the accuracy is not attained"
            texts.append(f"{text} than {results.name(other)} over {len(found)} settings")
        return Outcome("; ".join(texts), held, "95 % intervals over seeds of the ratio of costs.")

    def _compare(self, ours: dict[int, float], theirs: dict[int, float]) -> tuple[float, float]:
        """The interval of theirs / ours; from minus infinity where a run does not attain the accuracy."""
        seeds = ours.keys() & theirs.keys()
        if len(seeds) < 2:
            raise NotTested("An interval needs two seeds at least")
        if not all(0 < costs[seed] < math.inf for costs in (ours, theirs) for seed in seeds):
            return -math.inf, math.inf
        low, high = interval([math.log(theirs[seed] / ours[seed]) for seed in sorted(seeds)])
        return math.exp(low), math.exp(high)

    def _costs(self, results: Results, algorithm: str, metric: str) -> dict[tuple[object, ...], dict[int, float]]:
        """What each seed's run spends, by point of the axes."""
        rows = results.rows(algorithm, self.where, results.curves)
        return {
            point: {seed: spent(curve, metric, self.cost, [self.share])[0] for seed, curve in part.groupby("seed")}
            for point, part in results.settings(rows)
        }
