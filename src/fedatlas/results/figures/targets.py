"""Table of the costs to attain targets: rounds or seconds to an accuracy (Sun et al. 2023, Tables 4 and 5)."""

import itertools
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fedatlas.experiments import labels
from fedatlas.experiments.selection import rounds_to_target
from fedatlas.registry.options import option
from fedatlas.results.comparing.intervals import within_noise
from fedatlas.results.figures import layout
from fedatlas.results.figures.base import Drawing, PanelFigure
from fedatlas.results.figures.browser_chart import TableChart, plain_text
from fedatlas.results.figures.cost_figure import CostFigure
from fedatlas.results.figures.figure_data import FigureData
from fedatlas.results.figures.text_fitting import text_width

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

BEST = "#cfe3f1"
MIN_COLUMN = 0.85  # inches
ABOVE: dict[str, Any] = {"xytext": (0, 19), "textcoords": "offset points", "ha": "center", "va": "bottom"}


@dataclass(frozen=True, kw_only=True)
class Targets(PanelFigure, CostFigure):
    """A table of the cost at which the mean of a metric over seeds first attains each target, by algorithm.

    Bold are the least costs, and those within noise of them; seconds of a single seed are not compared, as their noise
    is not known.
    """

    name = "targets"

    y: str | None = option(None, doc="metric; by default the one that selects", names="metric")
    targets: list[float] = option(doc="values of the metric", filled=True, distinct=True)

    def draw(self, data: FigureData) -> Drawing:
        import pandas as pd

        cost = self.cost
        data.require(data.curves, cost, data.y)
        panels = data.panels(data.rows(data.curves))
        columns = [(title, panel, target) for title, panel in panels for target in self.targets]
        cells = [[_attained(data, panel, id, cost, target) for _, panel, target in columns] for id in data.styles]
        values = np.array([[cell[0] for cell in row] for row in cells])
        numbers = data.tidy(
            (title, id, pd.DataFrame({"target": [target], "cost": [values[row, column]]}))
            for row, id in enumerate(data.styles)
            for column, (title, _, target) in enumerate(columns)
        )
        titles = [title for title, _, _ in columns]
        headings = [labels.number(target) for _, _, target in columns]
        if cost.endswith("seconds"):
            per_round = [[_seconds_per_round(panel, id, cost) for _, panel in panels] for id in data.styles]
            cells = [[*rounds, *row] for rounds, row in zip(per_round, cells, strict=True)]
            headings = [*["a round"] * len(panels), *headings]
            titles = [*(title for title, _ in panels), *titles]
        comparable = data.seeds > 1 or not cost.endswith("seconds")
        bold = []
        for column in zip(*cells, strict=True):
            means, sds, counts = zip(*column, strict=True)
            bold.append(within_noise(means, sds, counts, "min"))
        table = [
            [(_text(cell[0]), comparable and near) for cell, near in zip(row, flags, strict=True)]
            for row, flags in zip(cells, zip(*bold, strict=True), strict=True)
        ]
        noise = "Bold: the least, and what is within noise of it." if data.seeds > 1 else ""
        if not comparable:
            noise = "One seed: the noise of seconds is not known, so none is called the least."
        seeds = f" (mean of {data.counted_seeds})" if data.seeds > 1 else ""
        measured = f"{labels.words(data.y)}{seeds}"
        note = f"{self.words.capitalize()} until the {measured} first attains a target; – never. {noise}".strip()
        groups = [(title, len(list(columns))) for title, columns in itertools.groupby(titles)]
        heads = [[("", 1), *((plain_text(title), span) for title, span in groups)]] if any(titles) else []
        heads.append([("", 1), *((heading, 1) for heading in headings)])
        rows = [(plain_text(name), row) for name, row in zip(data.names.values(), table, strict=True)]
        figure = self._table(data, table, groups, headings, note)
        return Drawing(figure, numbers, TableChart(heads, [("", rows)], note))

    def _table(
        self,
        data: FigureData,
        table: list[list[tuple[str, bool]]],
        groups: list[tuple[str, int]],
        headings: list[str],
        note: str,
    ) -> "Figure":
        """Return the figure of a table.

        Args:
            data: The figure's data.
            table: (text, whether it is bold) by algorithm and column.
            groups: (title, number of columns) of each panel.
            headings: Heads of the columns.
            note: Text for the foot.
        """
        rows, count = len(table), len(headings)
        names = max(text_width(name, 9) for name in data.names.values())
        width = max(MIN_COLUMN, *((text_width(title, 9) + 0.15) / columns for title, columns in groups))
        figure = layout.empty_figure((names + 0.3 + width * count, 1.15 + 0.27 * rows), fixed=True)
        ax = figure.subplots()
        ax.set(xlim=(-0.5, count - 0.5), ylim=(rows - 0.5, -0.5))
        for spine in ax.spines.values():
            spine.set_visible(False)
        for row, cells in enumerate(table):
            for column, (text, bold) in enumerate(cells):
                if bold:
                    ax.fill_between([column - 0.47, column + 0.47], row - 0.45, row + 0.45, color=BEST, linewidth=0)
                weight = "bold" if bold else "normal"
                ax.text(column, row, text, ha="center", va="center", fontsize=9, fontweight=weight)
        ax.set_yticks(range(rows), [data.names[id] for id in data.styles])
        ax.set_xticks(range(count), headings)
        ax.tick_params(length=0, labeltop=True, labelbottom=False, top=False, bottom=False)
        ax.grid(False)
        start = 0
        for title, columns in groups:
            if title:
                ax.annotate(title, (start + (columns - 1) / 2, -0.5), fontsize=9, **ABOVE)
            start += columns
        layout.add_notes(figure, note)
        return figure


def _attained(data: FigureData, panel: "DataFrame", id: str, cost: str, target: float) -> tuple[float, float, int]:
    """Return the cost of a target, its deviation over the seeds' own costs, and their number.

    The deviation is NaN with one seed, and where a seed does not attain the target.
    """
    curve = panel[panel["algorithm"] == id]
    costs = [_cost(data, rows, id, cost, target) for _, rows in curve.groupby("seed")]
    return _cost(data, panel, id, cost, target), _deviation(costs), len(costs)


def _deviation(numbers: Sequence[float]) -> float:
    """Return the standard deviation of numbers, or NaN for fewer than two and for numbers that are not finite."""
    return statistics.stdev(numbers) if len(numbers) > 1 and all(map(math.isfinite, numbers)) else math.nan


def _cost(data: FigureData, panel: "DataFrame", id: str, cost: str, target: float) -> float:
    """Return the mean cost over seeds in the first round that attains the target; inf if none does."""
    curve = panel[panel["algorithm"] == id]
    if curve.empty:
        return math.nan
    first = rounds_to_target(curve, data.y, target, data.view.select)
    return first if cost == "round" or math.isinf(first) else float(curve.loc[curve["round"] == first, cost].mean())


def _seconds_per_round(panel: "DataFrame", id: str, cost: str) -> tuple[float, float, int]:
    """Return mean, deviation and number of the seeds' seconds of a round, over the whole run; cost: their column."""
    last = panel[panel["algorithm"] == id].groupby("seed").last()
    seconds = (last[cost] / last["round"]).tolist()
    return (statistics.fmean(seconds) if seconds else math.nan), _deviation(seconds), len(seconds)


def _text(value: float) -> str:
    if math.isnan(value):
        return ""
    return labels.number(value) if math.isfinite(value) else "–"
