"""The quantity that theorems bound, and the bounds."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fedatlas.experiments import labels
from fedatlas.registry.options import option
from fedatlas.results.comparing.theorems import compare_runs, validate_run
from fedatlas.results.figures import Drawing, FigureData, PanelFigure
from fedatlas.results.figures.description import FLOOR, Lines, describe_lines, limits
from fedatlas.theory import NotCovered
from fedatlas.theory.theorems import theorem

if TYPE_CHECKING:
    from pandas import DataFrame

    from fedatlas.experiments.cells import Run


@dataclass(frozen=True, kw_only=True)
class Bound(PanelFigure):
    """The measured quantity of a theorem against rounds, mean and range over seeds, and its bound (dotted).

    Where seeds differ in their numbers of iterations, the bound is the mean over seeds.
    """

    name = "bound"

    theorems: list[int | str] = option(
        doc="numbers of theorems on DANE+, FedRed, FedSPS, FedAc or FedSpeed, all of which bound the same quantity",
        names="theorem",
        filled=True,
        distinct=True,
    )

    def fits(self, runs: "Iterable[tuple[str, Run]]") -> None:
        for _, run in runs:
            for name in self.theorems:
                validate_run(theorem(name), run)

    def draw(self, data: FigureData) -> Drawing:
        theorems = {f"bound_{name}": theorem(name) for name in self.theorems}
        first = next(iter(theorems.values()))
        parts: list[tuple[str, str, DataFrame]] = []
        reasons: set[str] = set()
        for title, panel in data.panels(data.rows(data.curves)):
            for id, rows in ((id, panel[panel["algorithm"] == id]) for id in data.styles):
                if rows.empty:
                    continue
                try:
                    parts.append((title, id, self._numbers(data, id, rows)))
                except NotCovered as reason:
                    reasons.add(f"Not drawn: {reason}.")
        numbers = data.tidy(parts)
        shown = numbers.reindex(columns=["mean", "low", "high", *theorems])
        description = Lines(
            x={"x": first.counted},
            y=("mean", first.quantity),
            lines=describe_lines(data.styles, data.names),
            range=("low", "high") if data.seeds > 1 else None,
            dotted={column: f"bound of {entry.title}" for column, entry in theorems.items()},
            logx=True,
            logy=True,
            limits=limits(shown.to_numpy(float).ravel(), True),
            note=labels.join_sentences(data.note(), *sorted(reasons)),
        )
        return Drawing(numbers, description)

    def _numbers(self, data: FigureData, id: str, rows: "DataFrame") -> "DataFrame":
        """Return ``x``, the bounds, and ``mean``, ``low`` and ``high`` of the quantity, from an algorithm's curves.

        Raises NotCovered if a theorem says nothing of these runs.
        """
        import pandas as pd

        bounds: dict[str, np.ndarray] = {}
        for name in reversed(self.theorems):
            runs = compare_runs(theorem(name), data.view, id, rows)
            count, measured, limit = map(np.stack, zip(*runs.values(), strict=True))
            bounds[f"bound_{name}"] = np.maximum(limit.mean(axis=0), FLOOR)
        measured = np.maximum(measured, FLOOR)
        low, mean, high = measured.min(axis=0), measured.mean(axis=0), measured.max(axis=0)
        numbers = pd.DataFrame({"x": count.mean(axis=0), "mean": mean, "low": low, "high": high, **bounds})
        return numbers[np.isfinite(mean)]  # what all seeds reached
