"""The ratio of one metric to another."""

import math
from dataclasses import dataclass
from typing import Literal

from fedatlas.experiments import labels
from fedatlas.registry.options import option
from fedatlas.results.claims.base import BoundedCheck, MultiAlgorithmCheck
from fedatlas.results.claims.evidence import Evidence, judge_all
from fedatlas.results.claims.quantities import STATISTICS
from fedatlas.results.claims.results import Results
from fedatlas.results.claims.verdicts import NotTested, Outcome
from fedatlas.results.comparing.intervals import pair_seeds, sample


@dataclass(frozen=True, kw_only=True)
class Proportion(BoundedCheck, MultiAlgorithmCheck):
    """Held if the ratio of one metric to another lies in the bounds, in the mean over seeds, for all algorithms and
    settings of ``where``."""

    name = "proportion"

    metric: str = option(doc="the metric above the line", names="metric")
    of: str = option(doc="the metric below the line", names="metric")
    statistic: Literal["best", "final"] = option(
        "final", doc="the metrics' best values over the evaluations, or the last"
    )

    def judge(self, results: Results) -> Outcome:
        evidence = []
        for algorithm in self.algorithms:
            above, below = (
                results.samples(algorithm, self.where, name, self.statistic) for name in (self.metric, self.of)
            )
            for point in above:
                pairs, location = pair_seeds(above[point], below[point]), results.location(point)
                ratios = [numerator / denominator if denominator else math.inf for numerator, denominator in pairs]
                if not all(map(math.isfinite, ratios)):
                    raise NotTested(f"{results.name(algorithm)} has no {self.metric}")
                quantity = f"{labels.words(self.metric)} / {labels.words(self.of)}"
                template = f"{results.name(algorithm)}: {STATISTICS[self.statistic]} {quantity} {{}}{location}"
                exact = results.is_deterministic(algorithm)
                evidence.append(Evidence(sample(ratios, exact=exact), self.limits(), template))
        return judge_all(evidence, more=self.more)
