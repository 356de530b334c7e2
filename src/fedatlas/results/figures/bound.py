"""The quantity that theorems bound, and the bounds."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fedatlas.experiments import labels
from fedatlas.registry.options import option
from fedatlas.results.figures import layout
from fedatlas.results.figures.base import Drawing, PanelFigure
from fedatlas.results.figures.browser_chart import LineChart, chart_lines
from fedatlas.results.figures.figure_data import FigureData
from fedatlas.theory import NotCovered

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

    from fedatlas.experiments.cells import Run

LINES = (layout.DOTS, (0, (4, 2)), (0, (6, 2, 1, 2)))  # of one theorem, and of others on the same quantity


@dataclass(frozen=True, kw_only=True)
class Bound(PanelFigure):
    """The measured quantity of a theorem against rounds, mean and range over seeds, and its bound (dotted).

    A bound that is far above all that is measured is told in words, as it would press the measured lines flat.
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
        from fedatlas.theory.theorems import theorem

        for _, run in runs:
            for name in self.theorems:
                theorem(name).validate_run(run)

    def draw(self, data: FigureData) -> Drawing:
        from matplotlib.ticker import NullFormatter

        from fedatlas.theory.theorems import theorem

        theorems = {f"bound_{name}": theorem(name) for name in self.theorems}
        first = next(iter(theorems.values()))
        panels = data.panels(data.rows(data.curves))
        figure, axes = layout.grid(len(panels), share_x=False)
        parts: list[tuple[str, str, DataFrame]] = []
        places: list[Axes] = []
        reasons: set[str] = set()
        for ax, (title, panel) in zip(axes, panels, strict=True):
            ax.set(title=title, xscale="log", yscale="log")
            ax.xaxis.set_minor_formatter(NullFormatter())
            for id, rows in ((id, panel[panel["algorithm"] == id]) for id in data.styles):
                if rows.empty:
                    continue
                try:
                    parts.append((title, id, self._numbers(data, id, rows)))
                    places.append(ax)
                except NotCovered as reason:
                    reasons.add(f"Not drawn: {reason}.")
        ratios = {
            column: np.concatenate([numbers[column] / numbers["mean"] for _, _, numbers in parts] or [np.ones(1)])
            for column in theorems
        }
        names = {column: f"bound of {record.title}" for column, record in theorems.items()}
        lines: dict[str, Any] = {
            column: {"linestyle": LINES[index % len(LINES)], "linewidth": 1.4}
            for index, column in enumerate(theorems)
            if not np.nanmin(ratios[column]) > layout.FAR_BOUND
        }
        for ax, (_, id, numbers) in zip(places, parts, strict=True):
            _draw_quantity(ax, data, id, numbers)
            for column, line in lines.items():
                ax.plot(numbers["x"], numbers[column], color=layout.NOTE_COLOUR, **line)
        layout.label(axes, first.counted, first.quantity)
        handles = [layout.note_handle(names[column], **line) for column, line in lines.items()]
        layout.legend(figure, data.styles, data.names, *handles)
        above = [
            f"Above the figure: the {name}, {layout.range_of_ratios(ratios[column])}."
            for column, name in names.items()
            if column not in lines
        ]
        note = " ".join(filter(None, [data.note(), *above]))
        layout.add_notes(figure, layout.wrap_notes(figure.get_figwidth(), note, *sorted(reasons)))
        chart = LineChart(
            x={"x": first.counted},
            y=("mean", labels.plain_text(first.quantity)),
            lines=chart_lines(data.styles, data.names),
            range=("low", "high"),
            dotted={column: names[column] for column in lines},
            logx=True,
            logy=True,
            note=note,
        )
        return Drawing(figure, data.tidy(parts), chart)

    def _numbers(self, data: FigureData, id: str, rows: "DataFrame") -> "DataFrame":
        """Return ``x``, the bounds, and ``mean``, ``low`` and ``high`` of the quantity, from an algorithm's curves.

        Raises NotCovered if a theorem says nothing of these runs.
        """
        import pandas as pd

        from fedatlas.theory.theorems import theorem

        bounds: dict[str, np.ndarray] = {}
        for name in reversed(self.theorems):
            runs = list(theorem(name).compare_runs(data.view, id, rows))
            count, measured, limit = (np.stack([run[k] for run in runs]) for k in (1, 2, 3))
            bounds[f"bound_{name}"] = np.maximum(limit.mean(axis=0), layout.FLOOR)
        measured = np.maximum(measured, layout.FLOOR)
        low, mean, high = measured.min(axis=0), measured.mean(axis=0), measured.max(axis=0)
        return pd.DataFrame({"x": count.mean(axis=0), "mean": mean, "low": low, "high": high, **bounds})


def _draw_quantity(ax: "Axes", data: FigureData, id: str, numbers: "DataFrame") -> None:
    """Draw the measured quantity of an algorithm with its range."""
    style = data.styles[id]
    x, mean, low, high = (numbers[name].to_numpy() for name in ("x", "mean", "low", "high"))
    marked = np.unique(np.geomspace(1, len(x), 9).astype(int) - 1).tolist()
    layout.draw_range(ax, style, x, low, high, data.position(id), marked)
    ax.plot(x, mean, markevery=marked, **style.properties)
