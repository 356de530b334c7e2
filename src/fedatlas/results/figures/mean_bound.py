"""The mean squared gradient norm that FedSpeed's Theorem 4.4 bounds, and the bound."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fedatlas.experiments import labels
from fedatlas.registry.options import option
from fedatlas.results.figures import layout
from fedatlas.results.figures.base import Drawing, PanelFigure
from fedatlas.results.figures.browser_chart import Chart, lines, plain
from fedatlas.results.figures.figure_data import FigureData

if TYPE_CHECKING:
    from pandas import DataFrame

    from fedatlas.experiments.cells import Run

Bounds = Literal["4.4", "4.4 scaled", "4.4 with noise"]
LINES: dict[str, object] = {"4.4": (0, (1, 1.6)), "4.4 scaled": (0, (4, 2)), "4.4 with noise": (0, (6, 2, 1, 2))}


@dataclass(frozen=True, kw_only=True)
class MeanBound(PanelFigure):
    """What FedSpeed's Theorem 4.4 bounds against rounds T, mean and range over seeds, and its bounds."""

    name = "mean_bound"

    theorems: list[Bounds] = option(doc="the bounds that are drawn", filled=True, distinct=True)

    def fits(self, runs: "Iterable[tuple[str, Run]]") -> None:
        from fedatlas.theory import fedspeed

        for _, run in runs:
            fedspeed.validate_run(run)

    def draw(self, data: FigureData) -> Drawing:
        from matplotlib.lines import Line2D
        from matplotlib.ticker import NullFormatter

        from fedatlas.theory import fedspeed

        panels = data.panels(data.rows(data.curves))
        figure, axes = layout.grid(len(panels), share_x=False)
        uncovered: set[str] = set()
        shown: list[tuple[str, str, DataFrame]] = []
        for ax, (title, part) in zip(axes, panels, strict=True):
            ax.set_title(title)
            ax.set_xscale("log")
            ax.xaxis.set_minor_formatter(NullFormatter())
            ax.set_yscale("log")
            for id, look in data.styles.items():
                rows = part[part["algorithm"] == id]
                try:
                    found = [fedspeed.compare_runs(data.view, name, id, rows) for name in self.theorems if len(rows)]
                except fedspeed.NotCovered as reason:
                    uncovered.add(f"Not drawn: {reason}.")
                    continue
                for name, run in zip(self.theorems, found, strict=bool(found)):
                    bound = run.bound.mean(axis=0)
                    ax.plot(run.rounds, bound, color=layout.NOTE_COLOUR, linestyle=LINES[name], linewidth=1.3)
                shown += [(title, id, self._tidy(found))] if found else []
                for run in found[-1:]:
                    low, high = run.measured.min(axis=0), run.measured.max(axis=0)
                    at = np.unique(np.geomspace(1, len(run.rounds), 9).astype(int) - 1).tolist()
                    layout.spread(ax, look, run.rounds, low, high, data.place(look), at)
                    ax.plot(run.rounds, run.measured.mean(axis=0), color=look.colour, marker=look.marker,
                            markersize=look.size, markevery=at)  # fmt: skip
        layout.label(axes, labels.COSTS["rounds"], r"mean of $|\nabla F(z^t)|^2$")
        handles = []
        for name in self.theorems:
            handles.append(Line2D([], [], color=layout.NOTE_COLOUR, linestyle=LINES[name], linewidth=1.3))
            handles[-1].set_label(f"bound of Theorem {name}")
        layout.legend(figure, data, handles)
        layout.foot(figure, data.note(), *sorted(uncovered))
        numbers = data.tidy(shown)
        chart = Chart(
            x={"round": labels.COSTS["rounds"]},
            y=("mean", plain(r"mean of $|\nabla F(z^t)|^2$")),
            lines=lines(data.styles, data.names),
            range=("low", "high"),
            dotted={name: f"bound of Theorem {name}" for name in self.theorems},
            logx=True,
            logy=True,
            note=data.note(),
        )
        return Drawing(figure, numbers, chart)

    def _tidy(self, found: "list[Any]") -> "DataFrame":
        """The numbers of a line and of its bounds. found: what `fedspeed.compare_runs` says of each theorem."""
        import pandas as pd

        run = found[-1]
        ends = {"mean": run.measured.mean(axis=0), "low": run.measured.min(axis=0), "high": run.measured.max(axis=0)}
        bounds: dict[str, Any] = {name: one.bound.mean(axis=0) for name, one in zip(self.theorems, found, strict=True)}
        return pd.DataFrame({"round": run.rounds} | ends | bounds)
