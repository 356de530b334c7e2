"""The mean squared gradient norm that FedSpeed's Theorem 4.4 bounds, and the bound."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from fedatlas.experiments import labels
from fedatlas.registry.options import option
from fedatlas.results.figures.bound_figure import BoundFigure, BoundLine
from fedatlas.results.figures.figure_data import FigureData

if TYPE_CHECKING:
    from pandas import DataFrame

    from fedatlas.experiments.cells import Run

Bounds = Literal["4.4", "4.4 scaled", "4.4 with noise"]
LINES: dict[str, object] = {"4.4": (0, (1, 1.6)), "4.4 scaled": (0, (4, 2)), "4.4 with noise": (0, (6, 2, 1, 2))}


@dataclass(frozen=True, kw_only=True)
class MeanBound(BoundFigure):
    """The quantity that FedSpeed's Theorem 4.4 bounds against rounds T, mean and range over seeds, and its bounds.

    A bound that is far above all that is measured is told in words, as it would press the measured lines flat.
    """

    name = "mean_bound"
    abscissa = "round"

    theorems: list[Bounds] = option(doc="the bounds that are drawn", filled=True, distinct=True)

    def fits(self, runs: "Iterable[tuple[str, Run]]") -> None:
        from fedatlas.theory import fedspeed

        for _, run in runs:
            fedspeed.validate_run(run)

    def words(self) -> tuple[str, str]:
        return labels.COSTS["rounds"], r"mean of $|\nabla F(z^t)|^2$"

    def bounds(self) -> dict[str, BoundLine]:
        return {
            name: BoundLine(f"bound of Theorem {name}", {"linestyle": LINES[name], "linewidth": 1.3})
            for name in self.theorems
        }

    def numbers(self, data: FigureData, id: str, rows: "DataFrame") -> "DataFrame":
        import pandas as pd

        from fedatlas.theory import fedspeed

        runs = {name: fedspeed.compare_runs(data.view, name, id, rows) for name in self.theorems}
        first = runs[self.theorems[0]]
        mean, low, high = first.measured.mean(axis=0), first.measured.min(axis=0), first.measured.max(axis=0)
        bounds: dict[str, Any] = {name: run.bound.mean(axis=0) for name, run in runs.items()}
        return pd.DataFrame({"round": first.rounds, "mean": mean, "low": low, "high": high} | bounds)
