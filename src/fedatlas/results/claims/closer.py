"""Root mean squares over rounds, compared seed by seed."""

import math
from dataclasses import dataclass

from fedatlas.experiments import labels
from fedatlas.registry.options import option
from fedatlas.results.claims.base import ContestCheck, MetricCheck
from fedatlas.results.claims.evidence import Bounds, Evidence, judge_all
from fedatlas.results.claims.results import Results
from fedatlas.results.claims.verdicts import Outcome
from fedatlas.results.comparing.intervals import match_seeds, sample


@dataclass(frozen=True, kw_only=True)
class Closer(MetricCheck, ContestCheck):
    """Held if the root mean square of the metric from round ``after`` on is more than ``factor`` times smaller than
    that of each of ``than``, in every setting of ``where``.

    Runs of one seed are compared; the mean over seeds is that of the logarithms of the ratios.
    """

    name = "closer"

    factor: float = option(1, doc="how many times smaller it must be", above=0)
    after: int = option(0, doc="first round of the mean", unit="rounds", low=0)

    def judge(self, results: Results) -> Outcome:
        import numpy as np

        roots = {}
        for id in (self.algorithm, *self.than):
            rows = results.rows(id, self.where, results.curves)
            for point, part in results.settings(rows):
                roots[id, point] = np.sqrt(results.mean_squares(part, self.metric, self.after))
        evidence, failed = [], []
        own_failures = results.failures(self.algorithm, self.where, self.metric)
        for rival in self.than:
            failures = results.failures(rival, self.where, self.metric)
            for point in [point for id, point in roots if id == self.algorithm and (rival, point) in roots]:
                if point in failures or point in own_failures:
                    failed.append(failures.get(point) or own_failures[point])
                    continue
                ours, theirs = roots[self.algorithm, point], roots[rival, point]
                pairs = results.pairs(self.algorithm, dict(ours), rival, dict(theirs), match_seeds)
                ratios = sample(
                    (_ratio(*pair) for pair in pairs), True, results.is_deterministic(self.algorithm, rival)
                )
                means = f"({labels.number(ours.mean())} against {labels.number(theirs.mean())})"
                location = results.location(point)
                template = f"{{}} times smaller than {results.name(rival)} {means}{location}"
                evidence.append(Evidence(ratios, Bounds(self.factor, open=True), template))
        return judge_all(evidence, failed=failed)


def _ratio(ours: float, theirs: float) -> float:
    """Return theirs / ours; 0 where ours diverged, infinite where theirs alone did."""
    if not math.isfinite(ours):
        return 0.0
    return math.inf if ours == 0 else theirs / ours
