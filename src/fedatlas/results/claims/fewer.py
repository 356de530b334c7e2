"""The cost of attaining an accuracy, compared with that of other algorithms."""

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fedatlas.errors import UserError
from fedatlas.experiments import labels
from fedatlas.registry.options import option
from fedatlas.results.claims.base import BoundedCheck, ContestCheck
from fedatlas.results.claims.cost_check import CostCheck
from fedatlas.results.claims.evidence import Evidence, judge_all, vacuous_outcome
from fedatlas.results.claims.results import Point, Results
from fedatlas.results.claims.verdicts import Outcome
from fedatlas.results.comparing.intervals import match_seeds, sample, typical
from fedatlas.results.comparing.targets import seed_costs

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Fewer(BoundedCheck, CostCheck, ContestCheck):
    """Held if ``algorithm`` costs so many times less than each of ``than``, in the bounds, until the metric attains an
    accuracy, in every setting of ``where``.

    The accuracy is ``reduction`` times the metric's first value, or the ``target``; without either the costs of all
    rounds are compared, which is vacuous where they are equal. Runs of one seed are compared, by the ratio of their
    costs on a logarithmic scale.
    """

    name = "fewer"

    reduction: float | None = option(None, doc="share of the metric's first value that must be attained", above=0)
    target: float | None = option(None, doc="value of the metric that must be attained")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.reduction is not None and self.target is not None:
            raise UserError(f"{self.title()}: give a reduction or a target, not both")

    def judge(self, results: Results) -> Outcome:
        metric = self.metric or results.view.select.metric
        results.validate_metric(metric)
        self.validate_costs(results.curves)
        costs, evidence, failed = functools.partial(self._costs, results, metric), [], []
        for rival, point, pairs, failure in self.contests(results, costs, metric, match_seeds):
            if pairs and failure:
                failed.append(failure)
            elif pairs:
                means = f"{_means(pairs)} {self.describe_cost(self.cost)}"
                template = f"{{}} than {results.name(rival)} ({means}){results.location(point)}"
                exact = results.is_deterministic(self.algorithm, rival)
                ratios = sample((_ratio(*pair) for pair in pairs), log=True, exact=exact)
                evidence.append(Evidence(ratios, self.limits(), template, words=("times less", "times more")))
        outcome = judge_all(evidence, more=self.more, failed=failed)
        counts_all = self.reduction is None and self.target is None
        if counts_all and evidence and all(set(item.estimate.interval()) == {1.0} for item in evidence):
            return vacuous_outcome(outcome.text, "Both sides cost the same in all rounds, whatever they attain.")
        return outcome

    def _costs(self, results: Results, metric: str, algorithm: str) -> dict[Point, dict[int, float]]:
        """Return the cost of the accuracy, by point of the axes and seed; infinite where it is not attained."""
        rows, low = results.rows(algorithm, self.where, results.curves), results.goal(metric) == "min"
        return {point: dict(self._setting_costs(results, part, metric, low)) for point, part in results.settings(rows)}

    def _setting_costs(self, results: Results, rows: "pd.DataFrame", metric: str, low: bool) -> "pd.Series":
        """Return the costs of the runs of one setting by seed."""
        if self.reduction is not None:
            return seed_costs(rows, metric, self.cost, self.reduction)
        if self.target is not None:
            return seed_costs(rows, metric, self.cost, self.target, low, relative=False)
        ends = rows.sort_values("round").groupby("seed").last()
        costs = ends["round" if self.cost == "rounds" else self.cost].astype(float)
        return costs.mask(ends["status"] == "diverged", math.inf) if "status" in ends else costs


def _means(pairs: list[tuple[float, float]]) -> str:
    return " against ".join(map(_mean, zip(*pairs, strict=True)))


def _mean(costs: tuple[float, ...]) -> str:
    failures = sum(not math.isfinite(cost) for cost in costs)
    if failures:
        return "not attained" + (f" by {failures} of {len(costs)} seeds" if failures < len(costs) else "")
    return labels.number(typical(costs))


def _ratio(ours: float, theirs: float) -> float:
    """Return theirs / ours; infinite if only ours attains the accuracy, 0 if only theirs does, NaN if neither does."""
    if not math.isfinite(ours):
        return 0.0 if math.isfinite(theirs) else math.nan
    if ours == 0:
        return math.nan if theirs == 0 else math.inf
    return theirs / ours
