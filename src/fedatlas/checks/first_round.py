"""The first round that attains a target."""

import math
from dataclasses import dataclass

from fedatlas import labels
from fedatlas.checks.base import OfMetric, OfOne
from fedatlas.checks.results import Outcome, Results
from fedatlas.experiments.selection import attained
from fedatlas.options import option


@dataclass(frozen=True, kw_only=True)
class FirstRound(OfMetric, OfOne):
    """Held if the mean of a metric over seeds attains ``target`` in every setting of ``where``, for the first time at
    most in round ``paper``. Only evaluated rounds count."""

    name = "first_round"

    target: float = option(doc="value of the metric that must be attained")

    def judge(self, results: Results) -> Outcome:
        metric = self.metric or results.view.select.metric
        results.column(metric)
        rows = results.rows(self.algorithm, self.where, results.curves)
        firsts = [attained(curve, metric, self.target, results.view.select) for _, curve in results.settings(rows)]
        last = max(firsts)
        ours = labels.number(last) if math.isfinite(last) else "not attained"
        return Outcome(ours, math.isfinite(last) and (self.paper is None or last <= self.paper))
