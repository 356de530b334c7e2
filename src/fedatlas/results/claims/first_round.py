"""The first round that attains a target."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fedatlas.registry.options import option
from fedatlas.results.claims.base import AlgorithmCheck, MetricCheck
from fedatlas.results.claims.evidence import Bounds, Evidence, judge_all
from fedatlas.results.claims.results import Results
from fedatlas.results.claims.target_costs import target_costs
from fedatlas.results.claims.verdicts import Outcome
from fedatlas.results.comparing.intervals import sample

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class FirstRound(MetricCheck, AlgorithmCheck):
    """Held if a metric attains ``target`` in every setting of ``where``, for the first time at most in round ``paper``,
    in the mean over seeds.

    Only evaluated rounds count, so the bound is the first of them at or after ``paper``. Fewer rounds pass as well.
    """

    name = "first_round"

    target: float = option(doc="value of the metric that must be attained")

    def judge(self, results: Results) -> Outcome:
        metric = self.metric or results.view.select.metric
        results.validate_metric(metric)
        rows, low = results.rows(self.algorithm, self.where, results.curves), results.goal(metric) == "min"
        evidence = []
        for point, part in results.settings(rows):
            firsts = target_costs(results, part, metric, "rounds", self.target, low, relative=False).tolist()
            location = results.location(point)
            failures = sum(map(math.isinf, firsts))
            template = (
                f"round {{}}{location}"
                if not failures
                else f"not attained by {failures} of {len(firsts)} seeds{location}"
            )
            evidence.append(
                Evidence(
                    sample(firsts, True, results.is_deterministic(self.algorithm)),
                    Bounds(high=self._latest(part["round"])),
                    template,
                )
            )
        return judge_all(evidence)

    def _latest(self, rounds: "pd.Series") -> float:
        """Return the last evaluated round that passes; without ``paper`` every finite round does."""
        if self.paper is None:
            return math.nextafter(math.inf, 0)
        later = rounds[rounds >= self.paper]
        return self.paper if later.empty else float(later.min())
