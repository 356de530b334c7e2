"""The base class of figures and checks whose options name costs, among them time on simulated clients."""

from dataclasses import dataclass
from typing import Any

from fedatlas.experiments.labels import SIMULATED
from fedatlas.federation.costs import COST_MODELS
from fedatlas.registry.kinds import Kind
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class CostOptions(Kind):
    """A kind with options that name costs, of which one can be simulated time."""

    model: str | dict[str, Any] = option("cross-device", doc="cost model of simulated_seconds", family="cost model")

    def __post_init__(self) -> None:
        super().__post_init__()
        COST_MODELS.build(self.model)

    @property
    def costs(self) -> list[str]:
        """Costs that its options name."""
        return [getattr(self, name) for name, option in self.options().items() if option.names == "cost or time"]

    @property
    def simulated(self) -> frozenset[str]:
        """Column of simulated time, if it is one of the costs."""
        return frozenset({SIMULATED} & set(self.costs))

    @property
    def clients(self) -> str:
        """Name of the simulated clients, for people."""
        return COST_MODELS.split(self.model)[0]
