"""What figures share whose x is a cost: recorded ones, and the time that a cost model makes of them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fedatlas.costs import COST_MODELS
from fedatlas.figures.base import Chosen
from fedatlas.labels import COSTS, SIMULATED, TIMES
from fedatlas.options import option

if TYPE_CHECKING:
    from pandas import DataFrame

OFFERED = ("rounds", "vectors_up", "gradients", "seconds")  # costs that a reader can choose among


@dataclass(frozen=True, kw_only=True)
class Costed(Chosen):
    """A figure against a cost."""

    x: str = option(doc="cost, or simulated_seconds", names="cost or time")
    model: str | dict[str, Any] = option("cross-device", doc="cost model of simulated_seconds", family="cost model")

    def __post_init__(self) -> None:
        super().__post_init__()
        COST_MODELS.build(self.model)

    @property
    def inputs(self) -> frozenset[str]:
        return frozenset({SIMULATED} if self.x == SIMULATED else ())

    @property
    def cost(self) -> str:
        """Column of curves that holds the cost."""
        return "round" if self.x == "rounds" else self.x

    def against(self, curves: "DataFrame") -> dict[str, str]:
        """Words of the costs that curves can be drawn against, by their columns; the figure's own comes first."""
        found = {"round" if name == "rounds" else name: words for name, words in COSTS.items() if name in OFFERED}
        return {self.cost: self.words} | {name: words for name, words in found.items() if name in curves}

    @property
    def words(self) -> str:
        """The cost for an axis; of simulated time, on which clients."""
        if self.x != SIMULATED:
            return TIMES[self.x]
        return TIMES[self.x].replace(" (s)", f", {COST_MODELS.split(self.model)[0]} (s)")
