"""The base class of checks that count the cost of runs."""

from dataclasses import dataclass

from fedatlas.errors import lookup
from fedatlas.experiments.labels import SIMULATED, TIMES
from fedatlas.registry.options import option
from fedatlas.results.claims.base import MetricCheck
from fedatlas.results.costs.cost_options import CostOptions


@dataclass(frozen=True, kw_only=True)
class CostCheck(CostOptions, MetricCheck):
    """A check of the cost of runs until a metric attains a value."""

    cost: str = option("rounds", doc="what is counted: a cost, or simulated_seconds", names="cost or time")

    @property
    def inputs(self) -> frozenset[str]:
        return super().inputs | self.simulated

    def validate_costs(self) -> None:
        """Raise UserError on an unknown cost."""
        for cost in filter(None, self.costs):
            lookup("cost", cost, TIMES)

    def describe_cost(self, cost: str) -> str:
        """Return a cost in words, with the clients where it is simulated time."""
        return TIMES[cost] if cost != SIMULATED else f"simulated seconds, {self.clients}"
