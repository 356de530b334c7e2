"""The base classes of checks of a quantity of each run: a score, a cost, or a mean over rounds."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fedatlas.errors import UserError
from fedatlas.experiments import labels
from fedatlas.experiments.labels import SIMULATED
from fedatlas.experiments.scores import worst_score
from fedatlas.registry.options import option
from fedatlas.results.claims.base import ScoreCheck
from fedatlas.results.claims.quantities import level_unit
from fedatlas.results.claims.results import Numbers, Point, Results
from fedatlas.results.comparing.targets import seed_costs
from fedatlas.results.costs.cost_options import CostOptions

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class CostCheck(CostOptions, ScoreCheck):
    """A check of the cost of runs until a metric attains a value, where a ``cost`` is named."""

    cost: str | None = option(
        None,
        doc="what is counted: a cost, simulated_seconds, or a number that the servers report",
        names="cost or time",
    )

    @property
    def inputs(self) -> frozenset[str]:
        return super().inputs | self.simulated

    def describe_cost(self, cost: str) -> str:
        """Return a cost in words, with the clients where it is simulated time."""
        return labels.cost(cost) if cost != SIMULATED else f"simulated seconds, {self.clients}"


@dataclass(frozen=True, kw_only=True)
class QuantityCheck(CostCheck):
    """A check of one quantity of each run: by default the score.

    With a ``cost`` it is that until the metric attains ``reduction`` times its first value or the ``target``, infinite
    if it never does; without either, the cost of all rounds. With ``after`` it is the root mean square of the metric
    from that round on, over all rounds where the setting has NAME_rounds_mean_square, else over the evaluated ones.
    """

    reduction: float | None = option(None, doc="share of the metric's first value until which the cost counts", above=0)
    target: float | None = option(None, doc="value of the metric until which the cost counts")
    after: int | None = option(None, doc="first round of a root mean square", unit="rounds", low=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        others = self.cost if self.after is not None else None
        if sum(value is not None for value in (self.reduction, self.target, self.after, others)) > 1:
            raise UserError(f"{self.title()}: give one of reduction, target and after, and after without a cost")
        if not self.has_target and (self.reduction is not None or self.target is not None):
            raise UserError(f"{self.title()}: a reduction or target needs a cost")

    @property
    def has_target(self) -> bool:
        """Whether the quantity may be that of a reduction or target."""
        return self.cost is not None

    @property
    def counts_all(self) -> bool:
        """Whether it is the cost of all rounds."""
        return self.cost is not None and self.reduction is None and self.target is None

    def score_words(self, results: Results) -> str:
        metric = self.measured(results)
        if self.after is not None:
            return f"root mean square of the {labels.words(metric)}"
        if self.cost is None:
            return super().score_words(results)
        if self.counts_all:
            return self.describe_cost(self.cost)
        value = f"{labels.number(self.reduction)} times the first" if self.reduction else ""
        value = value or level_unit(metric).tell(self.target or 0.0)
        side = "at most" if results.goal(self.metric) == "min" else "at least"
        return f"{self.describe_cost(self.cost)} until the {labels.words(metric)} is {side} {value}"

    def numbers(self, results: Results, algorithm: str) -> dict[Point, Numbers]:
        """Return the quantity of each run, by point of the axes and seed."""
        if self.cost is None and self.after is None:
            return dict(results.samples(algorithm, self.where, self.metric, self.statistic))
        rows = results.rows(algorithm, self.where, results.curves)
        return {point: dict(self._of_setting(results, part)) for point, part in results.settings(rows)}

    def _of_setting(self, results: Results, rows: "pd.DataFrame") -> "pd.Series":
        """Return the quantity of the runs of one setting, by seed."""
        if self.after is not None:
            worst = worst_score(results.goal(self.metric))
            return (results.mean_squares(rows, self.metric, self.after) ** 0.5).replace(math.inf, worst)
        metric, cost = self.measured(results), str(self.cost)
        if self.reduction is not None:
            return seed_costs(rows, metric, cost, self.reduction)
        if self.target is not None:
            return seed_costs(rows, metric, cost, self.target, results.goal(self.metric) == "min", relative=False)
        ends = rows.sort_values("round").groupby("seed").last()
        costs = ends["round" if cost == "rounds" else cost].astype(float)
        return costs.mask(ends["status"] == "diverged", math.inf) if "status" in ends else costs
