"""The quantity that a theorem bounds, and the bound."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fedatlas.experiments import labels
from fedatlas.registry.options import option
from fedatlas.results.figures import layout
from fedatlas.results.figures.base import Drawing, PanelFigure
from fedatlas.results.figures.browser_chart import LineChart, chart_lines, plain_text
from fedatlas.results.figures.figure_data import FigureData

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

    from fedatlas.experiments.cells import Run


@dataclass(frozen=True, kw_only=True)
class Bound(PanelFigure):
    """The measured quantity of a theorem against rounds, mean and range over seeds, and its bound (dotted).

    A bound that is far above all that is measured is told in words, as it would press the measured lines flat.
    Where seeds differ in their numbers of iterations, the bound is the mean over seeds.
    """

    name = "bound"

    theorem: int | str = option(doc="number of a theorem on DANE+, FedRed or FedSPS", names="theorem")

    def fits(self, runs: "Iterable[tuple[str, Run]]") -> None:
        from fedatlas.theory import comparison

        for _, run in runs:
            comparison.validate_run(self.theorem, run)

    def draw(self, data: FigureData) -> Drawing:
        from matplotlib.ticker import NullFormatter

        from fedatlas.theory import comparison

        theorem = comparison.run_bound(self.theorem)
        panels = data.panels(data.rows(data.curves))
        figure, axes = layout.grid(len(panels), share_x=False)
        reasons: set[str] = set()
        parts: list[tuple[str, str, DataFrame]] = []
        lines = []
        for ax, (title, panel) in zip(axes, panels, strict=True):
            ax.set_title(title)
            ax.set_yscale("log")
            ax.set_xscale("log")
            ax.xaxis.set_minor_formatter(NullFormatter())
            for id in data.styles:
                rows = panel[panel["algorithm"] == id]
                if not rows.empty:
                    try:
                        parts.append((title, id, self._numbers(data, id, rows)))
                        lines.append(ax)
                    except comparison.NotCovered as reason:
                        reasons.add(f"Not drawn: {reason}.")
        ratios = np.concatenate([numbers["bound"] / numbers["mean"] for _, _, numbers in parts] or [np.ones(1)])
        far = float(np.nanmin(ratios)) > layout.FAR_BOUND
        for ax, (_, id, numbers) in zip(lines, parts, strict=True):
            _draw_line(ax, data, id, numbers, bounded=not far)
        counted = labels.COSTS["rounds"] if theorem.counts == "round" else theorem.counted
        layout.label(axes, counted, theorem.quantity)
        bound = f"bound of {theorem.title}"
        handles = [] if far else [layout.note_handle(bound, linestyle=layout.DOTS, linewidth=1.4)]
        layout.legend(figure, data.styles, data.names, *handles)
        above = f"Above the figure: the {bound}, {layout.range_of_ratios(ratios)}." if far else ""
        layout.add_notes(figure, layout.wrap_notes(figure.get_figwidth(), data.note(), above, *sorted(reasons)))
        chart = LineChart(
            x={"x": counted},
            y=("mean", plain_text(theorem.quantity)),
            lines=chart_lines(data.styles, data.names),
            range=("low", "high"),
            dotted={} if far else {"bound": bound},
            logx=True,
            logy=True,
            note=f"{data.note()} {above}".strip(),
        )
        return Drawing(figure, data.tidy(parts), chart)

    def _numbers(self, data: FigureData, id: str, rows: "DataFrame") -> "DataFrame":
        """Return an algorithm's measured quantity and its bound."""
        import pandas as pd

        from fedatlas.theory import comparison

        runs = list(comparison.compare_runs(data.view, self.theorem, id, rows))
        count, measured, limit = (np.stack([run[k] for run in runs]) for k in (1, 2, 3))
        measured, x = np.maximum(measured, layout.FLOOR), count.mean(axis=0)
        low, mean, high = measured.min(axis=0), measured.mean(axis=0), measured.max(axis=0)
        bound = np.maximum(limit.mean(axis=0), layout.FLOOR)
        return pd.DataFrame({"x": x, "mean": mean, "low": low, "high": high, "bound": bound})


def _draw_line(ax: "Axes", data: FigureData, id: str, numbers: "DataFrame", bounded: bool) -> None:
    """Draw an algorithm's measured quantity, and its bound if it is ``bounded``."""
    style = data.styles[id]
    x, mean, low, high, bound = (numbers[name].to_numpy() for name in ("x", "mean", "low", "high", "bound"))
    marked = np.unique(np.geomspace(1, len(x), 9).astype(int) - 1).tolist()
    layout.draw_range(ax, style, x, low, high, data.position(id), marked)
    ax.plot(x, mean, markevery=marked, **style.properties)
    if bounded:
        ax.plot(x, bound, color=layout.NOTE_COLOUR, linestyle=layout.DOTS, linewidth=1.4)
