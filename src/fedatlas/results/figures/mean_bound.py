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
    """The quantity that FedSpeed's Theorem 4.4 bounds against rounds T, mean and range over seeds, and its bounds.

    A bound that is far above all that is measured is told in words, as it would press the measured lines flat.
    """

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
        lines = []
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
                lines.append(ax)
                run = runs[self.theorems[0]]
                mean, low, high = run.measured.mean(axis=0), run.measured.min(axis=0), run.measured.max(axis=0)
                bounds: dict[str, Any] = {name: run.bound.mean(axis=0) for name, run in runs.items()}
                numbers = {"round": run.rounds, "mean": mean, "low": low, "high": high} | bounds
                parts.append((title, id, pd.DataFrame(numbers)))
                marked = np.unique(np.geomspace(1, len(run.rounds), 9).astype(int) - 1).tolist()
                layout.draw_range(ax, style, run.rounds, low, high, data.position(id), marked)
                ax.plot(run.rounds, mean, markevery=marked, **style.properties)
        layout.label(axes, labels.COSTS["rounds"], QUANTITY)
        ratios = {
            name: np.concatenate([numbers[name] / numbers["mean"] for _, _, numbers in parts] or [np.ones(1)])
            for name in self.theorems
        }
        shown = [name for name in self.theorems if not np.nanmin(ratios[name]) > layout.FAR_BOUND]
        for ax, (_, _, numbers) in zip(lines, parts, strict=True):
            for name in shown:
                line: dict[str, Any] = {"color": layout.NOTE_COLOUR, "linestyle": LINES[name], "linewidth": 1.3}
                ax.plot(numbers["round"], numbers[name], **line)
        bound_names: dict[str, str] = {name: f"bound of Theorem {name}" for name in shown}
        handles = [layout.note_handle(bound_names[name], linestyle=LINES[name], linewidth=1.3) for name in shown]
        layout.legend(figure, data.styles, data.names, *handles)
        above = " ".join(
            f"Above the figure: the bound of Theorem {name}, {layout.range_of_ratios(ratios[name])}."
            for name in self.theorems
            if name not in shown
        )
        note = " ".join(filter(None, [data.note(), above]))
        layout.add_notes(figure, layout.wrap_notes(figure.get_figwidth(), note, *sorted(reasons)))
        chart = LineChart(
            x={"round": labels.COSTS["rounds"]},
            y=("mean", plain_text(QUANTITY)),
            lines=chart_lines(data.styles, data.names),
            range=("low", "high"),
            dotted=bound_names,
            logx=True,
            logy=True,
            note=note,
        )
        return Drawing(figure, data.tidy(parts), chart)
