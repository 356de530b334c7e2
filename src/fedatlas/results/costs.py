"""The base class of figures and checks whose options name costs, among them time on simulated clients."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fedatlas.errors import UserError
from fedatlas.experiments.labels import SIMULATED
from fedatlas.federation.costs import COST_MODELS, CostModel
from fedatlas.registry.kinds import Kind
from fedatlas.registry.options import option

if TYPE_CHECKING:
    from fedatlas.federation.engine.drivers import Driver

OF_DRIVER = "driver"  # the model of the driver of each run


@dataclass(frozen=True, kw_only=True)
class CostOptions(Kind):
    """A kind with options that name costs, of which one can be simulated time."""

    model: str | dict[str, Any] = option(
        "cross-device",
        doc="cost model of simulated_seconds; `driver` is that of each run's driver. Asynchronous runs have no other",
        family="cost model",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.model != OF_DRIVER:
            COST_MODELS.build(self.model)

    def model_of(self, driver: "Driver") -> CostModel:
        """Return the cost model of the simulated seconds of a run.

        Raises:
            UserError: The run has a clock of another model, or none.
        """
        if driver.separate and not driver.clocked:
            raise UserError(f"{self.title()}: runs under {driver.title()} have no simulated_seconds")
        if self.model == OF_DRIVER:
            return driver.cost_model
        model = COST_MODELS.build(self.model)
        if driver.clocked and model != driver.cost_model:
            raise UserError(
                f"{self.title()}: model is {self.model}, but a run is {driver.name} on clients of {driver.model}, on "
                f"which its numbers depend: give model: {OF_DRIVER}"
            )
        return model

    @property
    def simulated(self) -> frozenset[str]:
        """Column of simulated time, if it is one of the costs that its options name."""
        names = (getattr(self, name) for name, option in self.options().items() if option.names == "cost or time")
        return frozenset({SIMULATED} & set(names))

    @property
    def clients(self) -> str:
        """Name of the simulated clients, for people."""
        return "the clients of the runs" if self.model == OF_DRIVER else COST_MODELS.split(self.model)[0]
