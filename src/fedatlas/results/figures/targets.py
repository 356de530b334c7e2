"""What it takes to attain targets, as a table: rounds or seconds to an accuracy (Sun et al. 2023, Tables 4 and 5)."""

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fedatlas.experiments import labels
from fedatlas.experiments.selection import attained
from fedatlas.registry.options import option
from fedatlas.results.figures import layout
from fedatlas.results.figures.base import Panelled
from fedatlas.results.figures.costed import Costed
from fedatlas.results.figures.fitting import width
from fedatlas.results.figures.sheet import Sheet

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

    Column = tuple[str, DataFrame, float | None]  # title of the panel, its rows, target or None for a round

BEST, SECOND = "#b9d7ec", "#e3eff8"
COLUMN = 0.85  # inches, at least


@dataclass(frozen=True, kw_only=True)
class Targets(Panelled, Costed):
    """A table of the cost at which the mean of a metric over seeds first attains each target, by algorithm."""

    name = "targets"

    y: str | None = option(None, doc="metric; by default the one that selects", names="metric")
    targets: list[float] = option(doc="values of the metric", filled=True, distinct=True)

    def draw(self, sheet: Sheet) -> "Figure":
        cost = self.cost
        sheet.column(sheet.curves, cost, sheet.y)
        panels = sheet.panels(sheet.rows(sheet.curves))
        reached = [(title, part, target) for title, part in panels for target in self.targets]
        columns: list[Column] = [*reached]
        heads = [labels.number(target) for _, _, target in reached]
        values = np.array(
            [[_cost(sheet, part, id, cost, target) for _, part, target in reached] for id in sheet.styles]
        )
        points = [(title, target) for title, _, target in reached]
        sheet.numbers = _tidy(sheet, points, values)
        if cost.endswith("seconds"):
            per_round = [[_per_round(part, id, cost) for _, part in panels] for id in sheet.styles]
            values, heads = np.hstack([np.array(per_round), values]), [*["a round"] * len(panels), *heads]
            columns = [*((title, part, None) for title, part in panels), *columns]
        return self._table(sheet, values, columns, heads)

    def _table(self, sheet: Sheet, values: np.ndarray, columns: "list[Column]", heads: list[str]) -> "Figure":
        rows, count = values.shape
        names = max(width(name, 9) for name in sheet.names.values())
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
        ax.set_yticks(range(rows), [sheet.names[id] for id in sheet.styles])
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
        seeds = f" (mean of {sheet.counted_seeds})" if sheet.seeds > 1 else ""
        measured = f"{labels.words(sheet.y)}{seeds}"
        layout.foot(figure, f"{what.capitalize()} until the {measured} first attains a target; – never.")
        return figure


def _tidy(sheet: Sheet, points: "list[tuple[str, float]]", values: np.ndarray) -> "DataFrame":
    """The cost of each target: infinite where it is never attained. values: (algorithms, targets)."""
    import pandas as pd

    rows = [
        (title, id, pd.DataFrame({"target": [target], "cost": [values[row, column]]}))
        for row, id in enumerate(sheet.styles)
        for column, (title, target) in enumerate(points)
    ]
    return sheet.tidy(rows)


def _cost(sheet: Sheet, part: "DataFrame", id: str, cost: str, target: float) -> float:
    """Mean cost over seeds in the first round that attains the target; inf if none does."""
    curve = part[part["algorithm"] == id]
    if curve.empty:
        return math.nan
    first = attained(curve, sheet.y, target, sheet.view.select)
    return first if cost == "round" or math.isinf(first) else float(curve.loc[curve["round"] == first, cost].mean())


def _per_round(part: "DataFrame", id: str, cost: str) -> float:
    """Seconds a round of training, over the whole run and all seeds. cost: the column of seconds."""
    last = part[part["algorithm"] == id].groupby("seed").last()
    return float((last[cost] / last["round"]).mean()) if len(last) else math.nan


def _text(value: float) -> str:
    if math.isnan(value):
        return ""
    return labels.number(value) if math.isfinite(value) else "–"
