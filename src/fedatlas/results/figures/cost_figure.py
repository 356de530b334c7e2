"""Base class of figures against a cost: a recorded one, or the time that a cost model derives from recorded ones."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fedatlas.experiments import labels
from fedatlas.experiments.labels import COSTS, SIMULATED, TIMES
from fedatlas.registry.options import option
from fedatlas.results.costs import OF_DRIVER, CostOptions
from fedatlas.results.figures import AlgorithmFigure

if TYPE_CHECKING:
    from pandas import DataFrame

# Costs that a reader of the report can choose among.
BROWSER_COSTS = ("rounds", "vectors_up", "bits_up", "gradients", "seconds")


@dataclass(frozen=True, kw_only=True)
class CostFigure(CostOptions, AlgorithmFigure):
    """A figure against a cost."""

    x: str = option(doc="cost, simulated_seconds, or a number that the servers report", names="cost or time")

    @property
    def inputs(self) -> frozenset[str]:
        return super().inputs | self.simulated

    @property
    def cost(self) -> str:
        """Column of curves that holds the cost."""
        return "round" if self.x == "rounds" else self.x

    def abscissas(self, curves: "DataFrame") -> dict[str, str]:
        """Return the words of the costs that curves can be drawn against, by column; the figure's own comes first."""
        columns = {"round" if name == "rounds" else name: COSTS[name] for name in COSTS if name in BROWSER_COSTS}
        return {self.cost: self.words} | {name: words for name, words in columns.items() if name in curves}

    @property
    def words(self) -> str:
        """Label of the cost for an axis; that of simulated time names the clients."""
        if self.x != SIMULATED or self.model == OF_DRIVER:
            return labels.cost(self.x)
        return TIMES[self.x].replace(" (s)", f", {self.clients} (s)")
