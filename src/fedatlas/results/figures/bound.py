"""The quantity that a theorem bounds, and the bound."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fedatlas.experiments import labels
from fedatlas.registry.options import option
from fedatlas.results.figures import layout
from fedatlas.results.figures.bound_figure import BoundFigure, BoundLine
from fedatlas.results.figures.figure_data import FigureData

if TYPE_CHECKING:
    from pandas import DataFrame

    from fedatlas.experiments.cells import Run


@dataclass(frozen=True, kw_only=True)
class Bound(BoundFigure):
    """The measured quantity of a theorem against rounds, mean and range over seeds, and its bound (dotted).

    A bound that is far above all that is measured is told in words, as it would press the measured lines flat.
    Where seeds differ in their numbers of iterations, the bound is the mean over seeds.
    """

    name = "bound"
    abscissa = "x"

    theorem: int | str = option(doc="number of a theorem on DANE+, FedRed or FedSPS", names="theorem")

    def fits(self, runs: "Iterable[tuple[str, Run]]") -> None:
        from fedatlas.theory import comparison

        for _, run in runs:
            comparison.validate_run(self.theorem, run)

    def words(self) -> tuple[str, str]:
        from fedatlas.theory import comparison

        theorem = comparison.run_bound(self.theorem)
        return labels.COSTS["rounds"] if theorem.counts == "round" else theorem.counted, theorem.quantity

    def bounds(self) -> dict[str, BoundLine]:
        from fedatlas.theory import comparison

        name = f"bound of {comparison.run_bound(self.theorem).title}"
        return {"bound": BoundLine(name, {"linestyle": layout.DOTS, "linewidth": 1.4})}

    def numbers(self, data: FigureData, id: str, rows: "DataFrame") -> "DataFrame":
        import pandas as pd

        from fedatlas.theory import comparison

        runs = list(comparison.compare_runs(data.view, self.theorem, id, rows))
        count, measured, limit = (np.stack([run[k] for run in runs]) for k in (1, 2, 3))
        measured, x = np.maximum(measured, layout.FLOOR), count.mean(axis=0)
        low, mean, high = measured.min(axis=0), measured.mean(axis=0), measured.max(axis=0)
        bound = np.maximum(limit.mean(axis=0), layout.FLOOR)
        return pd.DataFrame({"x": x, "mean": mean, "low": low, "high": high, "bound": bound})
