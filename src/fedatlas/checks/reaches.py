"""Metrics that lie between bounds."""

import math
from dataclasses import dataclass

from fedatlas.checks.base import Bounded, OfScore, OfSeveral
from fedatlas.checks.results import Outcome, Results
from fedatlas.checks.text import ends
from fedatlas.options import option


@dataclass(frozen=True, kw_only=True)
class Reaches(Bounded, OfScore, OfSeveral):
    """Held if the metric lies in the bounds, for all algorithms, in all settings of ``where`` or in more than a
    ``share`` of them. What diverged lies in no bounds."""

    name = "reaches"

    share: float | None = option(
        None, doc="share of the settings that must be exceeded; by default all settings count", low=0, high=1
    )

    def judge(self, results: Results) -> Outcome:
        texts, held = [], True
        for algorithm in self.algorithms:
            values = list(results.values(algorithm, self.where, self.metric, self.statistic).values())
            inside = [math.isfinite(value) and self.within(value) for value in values]
            part = sum(inside) / len(inside)
            held &= part == 1 if self.share is None else part > self.share
            texts.append(f"{results.name(algorithm)} {ends(values)}")
            if self.share is not None:
                texts[-1] += f", {sum(inside)} of {len(inside)} in the bounds"
        return Outcome(", ".join(texts), held)
