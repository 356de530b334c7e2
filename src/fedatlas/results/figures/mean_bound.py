"""The mean squared gradient norm that FedSpeed's Theorem 4.4 bounds, and the bound."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fedatlas.experiments import labels
from fedatlas.registry.options import option
from fedatlas.results.figures import layout
from fedatlas.results.figures.base import Drawing, PanelFigure
from fedatlas.results.figures.browser_chart import LineChart, chart_lines, plain_text
from fedatlas.results.figures.figure_data import FigureData

if TYPE_CHECKING:
    from pandas import DataFrame

    from fedatlas.experiments.cells import Run

Bounds = Literal["4.4", "4.4 scaled", "4.4 with noise"]
LINES: dict[str, object] = {"4.4": (0, (1, 1.6)), "4.4 scaled": (0, (4, 2)), "4.4 with noise": (0, (6, 2, 1, 2))}
QUANTITY = r"mean of $|\nabla F(z^t)|^2$"


@dataclass(frozen=True, kw_only=True)
class MeanBound(PanelFigure):
    """The quantity that FedSpeed's Theorem 4.4 bounds against rounds T, mean and range over seeds, and its bounds."""

    name = "mean_bound"

    theorems: list[Bounds] = option(doc="the bounds that are drawn", filled=True, distinct=True)

    def fits(self, runs: "Iterable[tuple[str, Run]]") -> None:
        from fedatlas.theory import fedspeed

        for _, run in runs:
            fedspeed.validate_run(run)

    def draw(self, data: FigureData) -> Drawing:
        import pandas as pd
        from matplotlib.ticker import NullFormatter

        from fedatlas.theory import fedspeed

        panels = data.panels(data.rows(data.curves))
        figure, axes = layout.grid(len(panels), share_x=False)
        reasons: set[str] = set()
        parts: list[tuple[str, str, DataFrame]] = []
        for ax, (title, panel) in zip(axes, panels, strict=True):
            ax.set_title(title)
            ax.set_xscale("log")
            ax.xaxis.set_minor_formatter(NullFormatter())
            ax.set_yscale("log")
            for id, style in data.styles.items():
                rows = panel[panel["algorithm"] == id]
                if rows.empty:
                    continue
                try:
                    runs = {name: fedspeed.compare_runs(data.view, name, id, rows) for name in self.theorems}
                except fedspeed.NotCovered as reason:
                    reasons.add(f"Not drawn: {reason}.")
                    continue
                for name, run in runs.items():
                    bound = run.bound.mean(axis=0)
                    ax.plot(run.rounds, bound, color=layout.NOTE_COLOUR, linestyle=LINES[name], linewidth=1.3)
                mean, low, high = run.measured.mean(axis=0), run.measured.min(axis=0), run.measured.max(axis=0)
                bounds: dict[str, Any] = {name: run.bound.mean(axis=0) for name, run in runs.items()}
                numbers = {"round": run.rounds, "mean": mean, "low": low, "high": high} | bounds
                parts.append((title, id, pd.DataFrame(numbers)))
                marked = np.unique(np.geomspace(1, len(run.rounds), 9).astype(int) - 1).tolist()
                layout.draw_range(ax, style, run.rounds, low, high, data.position(id), marked)
                ax.plot(run.rounds, mean, markevery=marked, **style.properties)
        layout.label(axes, labels.COSTS["rounds"], QUANTITY)
        bound_names: dict[str, str] = {name: f"bound of Theorem {name}" for name in self.theorems}
        handles = [
            layout.note_handle(bound_names[name], linestyle=LINES[name], linewidth=1.3) for name in self.theorems
        ]
        layout.legend(figure, data.styles, data.names, *handles)
        layout.add_notes(figure, data.note(), *sorted(reasons))
        chart = LineChart(
            x={"round": labels.COSTS["rounds"]},
            y=("mean", plain_text(QUANTITY)),
            lines=chart_lines(data.styles, data.names),
            range=("low", "high"),
            dotted=bound_names,
            logx=True,
            logy=True,
            note=data.note(),
        )
        return Drawing(figure, data.tidy(parts), chart)
