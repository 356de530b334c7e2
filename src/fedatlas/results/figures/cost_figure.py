"""What figures share whose x is a cost: recorded ones, and the time that a cost model makes of them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fedatlas.experiments.labels import COSTS, SIMULATED, TIMES
from fedatlas.registry.options import option
from fedatlas.results.costs.cost_options import CostOptions
from fedatlas.results.figures.base import AlgorithmFigure

if TYPE_CHECKING:
    from pandas import DataFrame

OFFERED = ("rounds", "vectors_up", "gradients", "seconds")  # costs that a reader can choose among


@dataclass(frozen=True, kw_only=True)
class CostFigure(CostOptions, AlgorithmFigure):
    """A figure against a cost."""

    x: str = option(doc="cost, or simulated_seconds", names="cost or time")

    @property
    def inputs(self) -> frozenset[str]:
        return super().inputs | self.simulated

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
        return TIMES[self.x].replace(" (s)", f", {self.clients} (s)")
