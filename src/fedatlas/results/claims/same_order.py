"""Agreement of the orders of algorithms under two budgets, targets, costs or halves of the seeds."""

from dataclasses import dataclass
from typing import Any

from fedatlas.errors import UserError
from fedatlas.experiments import labels
from fedatlas.experiments.selection import select_rows
from fedatlas.registry.options import option
from fedatlas.results.claims.base import BoundedCheck
from fedatlas.results.claims.cost_check import CostCheck
from fedatlas.results.claims.evidence import Evidence, judge_all
from fedatlas.results.claims.results import Results
from fedatlas.results.claims.verdicts import NotTested, Outcome
from fedatlas.results.comparing.benchmark import Benchmark
from fedatlas.results.comparing.ranking import compare_orders, split_seeds
from fedatlas.results.comparing.targets import TargetSpec, target_costs


@dataclass(frozen=True, kw_only=True)
class SameOrder(BoundedCheck, CostCheck):
    """Held if Kendall's rank correlation lies in the bounds, between the order of the algorithms and that with another
    ``budget``, ``harder`` targets, or the ``other`` cost, or between the orders of the two halves of the ``seeds``.

    Every point of the axes in ``where`` is a problem. Algorithms are ordered by the area under the performance profile
    of the cost until a run attains its targets (Dolan & Moré 2002), as in a figure of robustness. The interval is that
    of percentiles over resampled problems and seeds. The note counts pairs of algorithms that change places beyond
    noise.
    """

    name = "same_order"

    algorithms: list[str] | None = option(
        None, doc="ids of the algorithms that are ordered; by default all that have runs there", names="algorithms"
    )
    shares: list[float] = option(
        lambda: [0.01],
        doc="targets: shares of the difference between the metric's first and best value; all count alike",
        filled=True,
        distinct=True,
    )
    best: float | None = option(None, doc="best value of the metric; by default as in a figure of robustness")
    budget: float | None = option(None, doc="share of the rounds after which runs are cut", above=0, below=1)
    harder: float | None = option(
        None, doc="factor by which the shares are divided; below 1 targets are easier", above=0
    )
    other: str | None = option(None, doc="another cost, or simulated_seconds", names="cost or time")
    seeds: bool = option(False, doc="whether the two halves of the seeds are compared")
    within: float = option(16.0, doc="ratio to the best cost from which on a problem counts nothing", above=1)
    resamples: int = option(1000, doc="how often problems and seeds are resampled", low=100)

    def __post_init__(self) -> None:
        super().__post_init__()
        if sum(value is not None for value in (self.budget, self.harder, self.other, self.seeds or None)) != 1:
            raise UserError(f"{self.title()} needs one of budget, harder, other and seeds, and not two of them")
        if self.other == self.cost:
            raise UserError(f"{self.title()}: other is {self.other}, which is the cost itself")
        if not all(0 < share < 1 for share in self.shares):
            raise UserError(f"{self.title()}: shares is {self.shares}; each must lie between 0 and 1")
        if self.harder is not None and max(self.shares) / self.harder >= 1:
            raise UserError(f"{self.title()}: harder is {self.harder}, so a target would be reached at the start")

    def judge(self, results: Results) -> Outcome:
        metric = self.metric or results.view.select.metric
        results.validate_metric(metric)
        self.validate_costs(results.curves)
        base = self._benchmark(results, metric, self.shares)
        if self.seeds:
            if base.seeds.shape[1] < 2:
                raise NotTested("One seed has no halves")
            first, second = split_seeds(base)
            words = "between the halves of the seeds"
        elif self.budget is not None:
            first, second = base, self._benchmark(results, metric, self.shares, budget=self.budget)
            words = f"with {labels.number(100 * self.budget)} % of the rounds"
        elif self.other is not None:
            first, second = base, self._benchmark(results, metric, self.shares, self.other)
            words = f"between the orders by {self.describe_cost(self.cost)} and by {self.describe_cost(self.other)}"
        else:
            factor = self.harder or 1.0  # one of the four is given
            first, second = base, self._benchmark(results, metric, [share / factor for share in self.shares])
            words = f"with targets {labels.number(factor)} times as hard"
        *_, agreement = compare_orders(first, second, self.within, self.resamples)
        note = f"{agreement.reversed} of {agreement.pairs} pairs of algorithms change places beyond noise."
        return judge_all(
            [Evidence(agreement.tau, self.limits(), f"Kendall's correlation {{}} {words}")], note, self.more
        )

    def _benchmark(
        self, results: Results, metric: str, shares: list[float], cost: str | None = None, budget: float = 1
    ) -> Benchmark:
        for id in self.algorithms or ():
            results.rows(id, {}, results.curves)
        for axis in self.where:
            results.validate_axis("where", axis)
        rows: Any = select_rows(results.curves, self.where)
        if rows.empty:
            raise NotTested("No results are left by where")
        present = set(rows["algorithm"])
        ids = self.algorithms or [id for id in results.view.algorithms if id in present]
        if len(ids) < 2:
            raise NotTested("An order needs two algorithms")
        spec = TargetSpec(metric, results.goal(metric), cost or self.cost, tuple(shares), self.best, budget)
        return target_costs(rows, list(results.view.algorithms), results.axes, spec).select_algorithms(ids)
