"""What figures and checks share that ask for the time of runs on simulated clients."""

from dataclasses import dataclass
from typing import Any

from fedatlas.experiments.labels import SIMULATED
from fedatlas.registry.kinds import Kind
from fedatlas.registry.options import option
from fedatlas.results.costs import COST_MODELS


@dataclass(frozen=True, kw_only=True)
class CostOptions(Kind):
    """A kind with options that name costs, of which one can be simulated time."""

    model: str | dict[str, Any] = option("cross-device", doc="cost model of simulated_seconds", family="cost model")

    def __post_init__(self) -> None:
        super().__post_init__()
        COST_MODELS.build(self.model)

    @property
    def costs(self) -> list[str]:
        """All costs that its options name."""
        return [getattr(self, name) for name, one in self.options().items() if one.names == "cost or time"]

    @property
    def simulated(self) -> frozenset[str]:
        """The column of simulated time, if it is one of the costs."""
        return frozenset({SIMULATED} & set(self.costs))

    @property
    def clients(self) -> str:
        """The name of the clients that are simulated, for people."""
        return COST_MODELS.split(self.model)[0]
