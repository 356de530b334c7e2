"""What it takes to attain targets, as a table: rounds or seconds to an accuracy (Sun et al. 2023, Tables 4 and 5)."""

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
from fedatlas.results.figures.text_fitting import width

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

    Column = tuple[str, DataFrame, float | None]  # title of the panel, its rows, target or None for a round

BEST, SECOND = "#b9d7ec", "#e3eff8"
COLUMN = 0.85  # inches, at least


@dataclass(frozen=True, kw_only=True)
class Targets(PanelFigure, CostFigure):
    """A table of the cost at which the mean of a metric over seeds first attains each target, by algorithm."""

    name = "targets"

    y: str | None = option(None, doc="metric; by default the one that selects", names="metric")
    targets: list[float] = option(doc="values of the metric", filled=True, distinct=True)

    def draw(self, data: FigureData) -> Drawing:
        cost = self.cost
        data.column(data.curves, cost, data.y)
        panels = data.panels(data.rows(data.curves))
        reached = [(title, part, target) for title, part in panels for target in self.targets]
        columns: list[Column] = [*reached]
        heads = [labels.number(target) for _, _, target in reached]
        values = np.array([[_cost(data, part, id, cost, target) for _, part, target in reached] for id in data.styles])
        points = [(title, target) for title, _, target in reached]
        numbers = _tidy(data, points, values)
        if cost.endswith("seconds"):
            per_round = [[_per_round(part, id, cost) for _, part in panels] for id in data.styles]
            values, heads = np.hstack([np.array(per_round), values]), [*["a round"] * len(panels), *heads]
            columns = [*((title, part, None) for title, part in panels), *columns]
        return Drawing(self._table(data, values, columns, heads), numbers)

    def _table(self, data: FigureData, values: np.ndarray, columns: "list[Column]", heads: list[str]) -> "Figure":
        rows, count = values.shape
        names = max(width(name, 9) for name in data.names.values())
        titles = [title for title, _, _ in columns]
        together = [(title, len(list(columns))) for title, columns in itertools.groupby(titles)]
        wide = max(COLUMN, *((width(title, 9) + 0.15) / columns for title, columns in together))
        figure = layout.blank((names + 0.3 + wide * count, 1.15 + 0.27 * rows), fixed=True)
        ax = figure.subplots()
        ax.set(xlim=(-0.5, count - 0.5), ylim=(rows - 0.5, -0.5))
        for spine in ax.spines.values():
            spine.set_visible(False)
        for column in range(count):
            order = sorted(value for value in set(values[:, column]) if math.isfinite(value))
            for row in range(rows):
                value = values[row, column]
                place = order.index(value) if value in order else None
                if place in (0, 1):
                    colour = (BEST, SECOND)[place]
                    ax.fill_between([column - 0.47, column + 0.47], row - 0.45, row + 0.45, color=colour, linewidth=0)
                weight = "bold" if place == 0 else "normal"
                ax.text(column, row, _text(value), ha="center", va="center", fontsize=9, fontweight=weight)
        ax.set_yticks(range(rows), [data.names[id] for id in data.styles])
        ax.set_xticks(range(count), heads)
        ax.tick_params(length=0, labeltop=True, labelbottom=False, top=False, bottom=False)
        ax.grid(False)
        for title in dict.fromkeys(title for title, _, _ in columns if title):
            places = [at for at, (other, _, _) in enumerate(columns) if other == title]
            for run in np.split(places, np.flatnonzero(np.diff(places) > 1) + 1):
                above: dict[str, Any] = {
                    "xytext": (0, 19),
                    "textcoords": "offset points",
                    "ha": "center",
                    "va": "bottom",
                }
                ax.annotate(title, (run.mean(), -0.5), fontsize=9, **above)
        what = self.words
        seeds = f" (mean of {data.counted_seeds})" if data.seeds > 1 else ""
        measured = f"{labels.words(data.y)}{seeds}"
        layout.foot(figure, f"{what.capitalize()} until the {measured} first attains a target; – never.")
        return figure


def _tidy(data: FigureData, points: "list[tuple[str, float]]", values: np.ndarray) -> "DataFrame":
    """The cost of each target: infinite where it is never attained. values: (algorithms, targets)."""
    import pandas as pd

    rows = [
        (title, id, pd.DataFrame({"target": [target], "cost": [values[row, column]]}))
        for row, id in enumerate(data.styles)
        for column, (title, target) in enumerate(points)
    ]
    return data.tidy(rows)


def _cost(data: FigureData, part: "DataFrame", id: str, cost: str, target: float) -> float:
    """Mean cost over seeds in the first round that attains the target; inf if none does."""
    curve = part[part["algorithm"] == id]
    if curve.empty:
        return math.nan
    first = rounds_to_target(curve, data.y, target, data.view.select)
    return first if cost == "round" or math.isinf(first) else float(curve.loc[curve["round"] == first, cost].mean())


def _per_round(part: "DataFrame", id: str, cost: str) -> float:
    """Seconds a round of training, over the whole run and all seeds. cost: the column of seconds."""
    last = part[part["algorithm"] == id].groupby("seed").last()
    return float((last[cost] / last["round"]).mean()) if len(last) else math.nan


def _text(value: float) -> str:
    if math.isnan(value):
        return ""
    return labels.number(value) if math.isfinite(value) else "–"
