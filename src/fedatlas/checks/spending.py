"""What checks share that count what runs spend."""

from dataclasses import dataclass
from typing import Any

from fedatlas.checks.base import OfMetric
from fedatlas.costs import COST_MODELS
from fedatlas.errors import lookup
from fedatlas.labels import SIMULATED, TIMES
from fedatlas.options import option


@dataclass(frozen=True, kw_only=True)
class OfCost(OfMetric):
    """A check of what runs spend until a metric attains a value."""

    cost: str = option("rounds", doc="what is counted: a cost, or simulated_seconds", names="cost or time")
    model: str | dict[str, Any] = option("cross-device", doc="cost model of simulated_seconds", family="cost model")

    def __post_init__(self) -> None:
        super().__post_init__()
        COST_MODELS.build(self.model)

    @property
    def costs(self) -> list[str]:
        """All costs that its options name."""
        return [getattr(self, name) for name, one in self.options().items() if one.names == "cost or time"]

    @property
    def inputs(self) -> frozenset[str]:
        return super().inputs | ({SIMULATED} if SIMULATED in self.costs else set())

    def check_costs(self) -> None:
        """Raise UserError on an unknown cost."""
        for cost in filter(None, self.costs):
            lookup("cost", cost, TIMES)

    def counted(self, cost: str) -> str:
        """A cost in words; of simulated time, on which clients."""
        return TIMES[cost] if cost != SIMULATED else f"simulated seconds, {COST_MODELS.split(self.model)[0]}"
