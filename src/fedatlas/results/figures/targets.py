"""Table of the costs to attain targets: rounds or seconds to an accuracy (Sun et al. 2023, Tables 4 and 5)."""

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fedatlas.experiments import labels
from fedatlas.experiments.selection import rounds_to_target
from fedatlas.registry.options import option
from fedatlas.results.figures import layout
from fedatlas.results.figures.base import Drawing, PanelFigure
from fedatlas.results.figures.cost_figure import CostFigure
from fedatlas.results.figures.figure_data import FigureData
from fedatlas.results.figures.text_fitting import text_width

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

BEST, SECOND = "#b9d7ec", "#e3eff8"
MIN_COLUMN = 0.85  # inches
ABOVE: dict[str, Any] = {"xytext": (0, 19), "textcoords": "offset points", "ha": "center", "va": "bottom"}


@dataclass(frozen=True, kw_only=True)
class Targets(PanelFigure, CostFigure):
    """A table of the cost at which the mean of a metric over seeds first attains each target, by algorithm."""

    name = "targets"

    y: str | None = option(None, doc="metric; by default the one that selects", names="metric")
    targets: list[float] = option(doc="values of the metric", filled=True, distinct=True)

    def draw(self, data: FigureData) -> Drawing:
        import pandas as pd

        cost = self.cost
        data.require(data.curves, cost, data.y)
        panels = data.panels(data.rows(data.curves))
        columns = [(title, panel, target) for title, panel in panels for target in self.targets]
        values = np.array(
            [[_cost(data, panel, id, cost, target) for _, panel, target in columns] for id in data.styles]
        )
        numbers = data.tidy(
            (title, id, pd.DataFrame({"target": [target], "cost": [values[row, column]]}))
            for row, id in enumerate(data.styles)
            for column, (title, _, target) in enumerate(columns)
        )
        titles = [title for title, _, _ in columns]
        headings = [labels.number(target) for _, _, target in columns]
        if cost.endswith("seconds"):
            per_round = [[_seconds_per_round(panel, id, cost) for _, panel in panels] for id in data.styles]
            values, headings = np.hstack([np.array(per_round), values]), [*["a round"] * len(panels), *headings]
            titles = [*(title for title, _ in panels), *titles]
        return Drawing(self._table(data, values, titles, headings), numbers)

    def _table(self, data: FigureData, values: np.ndarray, titles: list[str], headings: list[str]) -> "Figure":
        """Return the table of values (algorithms, columns), with headings below the titles of panels."""
        rows, count = values.shape
        names = max(text_width(name, 9) for name in data.names.values())
        groups = [(title, len(list(columns))) for title, columns in itertools.groupby(titles)]
        width = max(MIN_COLUMN, *((text_width(title, 9) + 0.15) / columns for title, columns in groups))
        figure = layout.empty_figure((names + 0.3 + width * count, 1.15 + 0.27 * rows), fixed=True)
        ax = figure.subplots()
        ax.set(xlim=(-0.5, count - 0.5), ylim=(rows - 0.5, -0.5))
        for spine in ax.spines.values():
            spine.set_visible(False)
        for column in range(count):
            order = sorted(value for value in set(values[:, column]) if math.isfinite(value))
            for row, value in enumerate(values[:, column]):
                rank = order.index(value) if value in order else None
                if rank in (0, 1):
                    box = [column - 0.47, column + 0.47], row - 0.45, row + 0.45
                    ax.fill_between(*box, color=(BEST, SECOND)[rank], linewidth=0)
                weight = "bold" if rank == 0 else "normal"
                ax.text(column, row, _text(value), ha="center", va="center", fontsize=9, fontweight=weight)
        ax.set_yticks(range(rows), [data.names[id] for id in data.styles])
        ax.set_xticks(range(count), headings)
        ax.tick_params(length=0, labeltop=True, labelbottom=False, top=False, bottom=False)
        ax.grid(False)
        start = 0
        for title, columns in groups:
            if title:
                ax.annotate(title, (start + (columns - 1) / 2, -0.5), fontsize=9, **ABOVE)
            start += columns
        seeds = f" (mean of {data.counted_seeds})" if data.seeds > 1 else ""
        measured = f"{labels.words(data.y)}{seeds}"
        layout.add_notes(figure, f"{self.words.capitalize()} until the {measured} first attains a target; – never.")
        return figure


def _cost(data: FigureData, panel: "DataFrame", id: str, cost: str, target: float) -> float:
    """Return the mean cost over seeds in the first round that attains the target; inf if none does."""
    curve = panel[panel["algorithm"] == id]
    if curve.empty:
        return math.nan
    first = rounds_to_target(curve, data.y, target, data.view.select)
    return first if cost == "round" or math.isinf(first) else float(curve.loc[curve["round"] == first, cost].mean())


def _seconds_per_round(panel: "DataFrame", id: str, cost: str) -> float:
    """Return the seconds of a round, over the whole run and all seeds; cost: their column."""
    last = panel[panel["algorithm"] == id].groupby("seed").last()
    return float((last[cost] / last["round"]).mean()) if len(last) else math.nan


def _text(value: float) -> str:
    if math.isnan(value):
        return ""
    return labels.number(value) if math.isfinite(value) else "–"
