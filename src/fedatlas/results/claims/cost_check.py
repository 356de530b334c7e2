"""The base class of checks that count the cost of runs."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fedatlas.errors import lookup
from fedatlas.experiments import labels
from fedatlas.experiments.labels import SIMULATED, TIMES
from fedatlas.experiments.scores import metric_columns
from fedatlas.registry.options import option
from fedatlas.results.claims.base import MetricCheck
from fedatlas.results.costs.cost_options import CostOptions

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class CostCheck(CostOptions, MetricCheck):
    """A check of the cost of runs until a metric attains a value."""

    cost: str = option(
        "rounds",
        doc="what is counted: a cost, simulated_seconds, or a number that the servers report",
        names="cost or time",
    )

    @property
    def inputs(self) -> frozenset[str]:
        return super().inputs | self.simulated

    def validate_costs(self, curves: "pd.DataFrame") -> None:
        """Raise UserError on an unknown cost. curves: Metrics of all runs, among them what servers report."""
        reported = metric_columns(curves)
        for cost in filter(None, self.costs):
            if cost not in reported:
                lookup("cost", cost, TIMES)

    def describe_cost(self, cost: str) -> str:
        """Return a cost in words, with the clients where it is simulated time."""
        return labels.cost(cost) if cost != SIMULATED else f"simulated seconds, {self.clients}"
