"""The ratio of one metric to another."""

import math
from dataclasses import dataclass
from typing import Literal

from fedatlas.checks.base import Bounded, OfSeveral
from fedatlas.checks.results import NotTested, Outcome, Results
from fedatlas.checks.text import ends, ratio
from fedatlas.options import option


@dataclass(frozen=True, kw_only=True)
class Proportion(Bounded, OfSeveral):
    """Held if the ratio of one metric to another lies in the bounds, for all algorithms and settings of ``where``."""

    name = "proportion"

    metric: str = option(doc="the metric above the line", names="metric")
    of: str = option(doc="the metric below the line", names="metric")
    statistic: Literal["best", "final"] = option(
        "final", doc="the metrics' best values over the evaluations, or the last"
    )

    def judge(self, results: Results) -> Outcome:
        texts, held = [], True
        for algorithm in self.algorithms:
            above, below = (
                results.values(algorithm, self.where, name, self.statistic) for name in (self.metric, self.of)
            )
            ratios = [above[point] / below[point] if below[point] else math.inf for point in above]
            if not all(map(math.isfinite, ratios)):
                raise NotTested(f"{results.name(algorithm)} has no {self.metric}")
            held &= all(map(self.within, ratios))
            texts.append(f"{results.name(algorithm)} {ends(ratios, ratio)}")
        return Outcome(", ".join(texts), held)
