"""Root mean squares over rounds, compared seed by seed."""

import math
from dataclasses import dataclass

from fedatlas.experiments import labels
from fedatlas.registry.options import option
from fedatlas.results.claims.base import ContestCheck, MetricCheck
from fedatlas.results.claims.evidence import Bounds, Evidence, judge_all
from fedatlas.results.claims.quantities import PLAIN, sides
from fedatlas.results.claims.results import Numbers, Point, Results
from fedatlas.results.claims.verdicts import Outcome
from fedatlas.results.comparing.intervals import match_seeds, sample, typical


@dataclass(frozen=True, kw_only=True)
class Closer(MetricCheck, ContestCheck):
    """Held if the root mean square of the metric from round ``after`` on is more than ``factor`` times smaller than
    that of each of ``than``, in every setting of ``where``.

    It is over all rounds where the setting has the metric's NAME_rounds_mean_square, else over the evaluated ones. Runs
    of one seed are compared; the mean over seeds is that of the logarithms of the ratios.
    """

    name = "closer"

    factor: float = option(1, doc="how many times smaller it must be", above=0)
    after: int = option(0, doc="first round of the mean, or the first evaluated one after it", unit="rounds", low=0)

    def judge(self, results: Results) -> Outcome:
        roots = {id: self._roots(results, id) for id in (self.algorithm, *self.than)}
        evidence, failed = [], []
        for rival, point, pairs, failure in self.contests(results, roots.__getitem__, self.metric, match_seeds):
            if failure:
                failed.append(failure)
                continue
            exact = results.is_deterministic(self.algorithm, rival)
            ratios = sample((_ratio(*pair) for pair in pairs), True, exact)
            means = sides(map(typical, zip(*pairs, strict=True)), PLAIN)
            quantity = f"root mean square of the {labels.words(self.measured(results))}"
            template = f"{{}} than {results.name(rival)} ({quantity} {means}){results.location(point)}"
            words = "times smaller", "times larger"
            evidence.append(Evidence(ratios, Bounds(self.factor, open=True), template, words=words))
        return judge_all(evidence, failed=failed)

    def _roots(self, results: Results, algorithm: str) -> dict[Point, Numbers]:
        """Return the root mean square by point of the axes and seed."""
        import numpy as np

        settings = results.settings(results.rows(algorithm, self.where, results.curves))
        return {point: dict(np.sqrt(results.mean_squares(part, self.metric, self.after))) for point, part in settings}


def _ratio(ours: float, theirs: float) -> float:
    """Return theirs / ours; 0 where ours diverged, infinite where theirs alone did."""
    if not math.isfinite(ours):
        return 0.0
    return math.inf if ours == 0 else theirs / ours
