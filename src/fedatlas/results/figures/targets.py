"""Table of the costs to attain targets: rounds or seconds to an accuracy (Sun et al. 2023, Tables 4 and 5)."""

import itertools
import math
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fedatlas.experiments import labels
from fedatlas.experiments.selection import rounds_to_target
from fedatlas.registry.options import option
from fedatlas.results.comparing.intervals import within_noise
from fedatlas.results.figures.base import Drawing, PanelFigure
from fedatlas.results.figures.cost_figure import CostFigure
from fedatlas.results.figures.description import Cell, TextTable
from fedatlas.results.figures.figure_data import FigureData

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True, kw_only=True)
class Targets(PanelFigure, CostFigure):
    """A table of the cost at which the mean of a metric over seeds first attains each target, by algorithm.

    Bold are the least costs, and those within noise of them; seconds of a single seed are not compared, as their noise
    is not known.
    """

    name = "targets"
    is_table = True

    y: str | None = option(None, doc="metric; by default the one that selects", names="metric")
    targets: list[float] = option(doc="values of the metric", filled=True, distinct=True)

    def draw(self, data: FigureData) -> Drawing:
        import pandas as pd

        cost = self.cost
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
        comparable = data.seeds > 1 or not cost.endswith("seconds")
        bold = []
        for column in zip(*cells, strict=True):
            means, sds, counts = zip(*column, strict=True)
            bold.append(within_noise(means, sds, counts, "min"))
        rows = [
            ((name,), [Cell(_text(cell[0]), comparable and near) for cell, near in zip(row, flags, strict=True)])
            for name, row, flags in zip(data.names.values(), cells, zip(*bold, strict=True), strict=True)
        ]
        noise = "Bold: the least, and what is within noise of it." if data.seeds > 1 else ""
        if not comparable:
            noise = "One seed: the noise of seconds is not known, so none is called the least."
        seeds = f" (mean of {data.counted_seeds})" if data.seeds > 1 else ""
        measured = f"{labels.words(data.y)}{seeds}"
        note = f"{self.words.capitalize()} until the {measured} first attains a target; – never. {noise}".strip()
        groups = [(title, len(list(columns))) for title, columns in itertools.groupby(titles)]
        heads = [*([groups] if any(titles) else []), [(heading, 1) for heading in headings]]
        table = TextTable(heads=heads, blocks=[("", rows)], note=note)
        return Drawing(numbers, table)


def _attained(data: FigureData, panel: "DataFrame", id: str, cost: str, target: float) -> tuple[float, float, int]:
    """Return the cost of a target, its deviation over the seeds' own costs, and their number.

    The deviation is NaN with one seed, and where a seed does not attain the target.
    """
    curve = panel[panel["algorithm"] == id]
    costs = [_cost(data, rows, id, cost, target) for _, rows in curve.groupby("seed")]
    deviation = statistics.stdev(costs) if len(costs) > 1 and all(map(math.isfinite, costs)) else math.nan
    return _cost(data, panel, id, cost, target), deviation, len(costs)


def _cost(data: FigureData, panel: "DataFrame", id: str, cost: str, target: float) -> float:
    """Return the mean cost over seeds in the first round that attains the target; inf if none does."""
    curve = panel[panel["algorithm"] == id]
    if curve.empty:
        return math.nan
    first = rounds_to_target(curve, data.y, target, data.view.select)
    return first if cost == "round" or math.isinf(first) else float(curve.loc[curve["round"] == first, cost].mean())


def _text(value: float) -> str:
    if math.isnan(value):
        return ""
    return labels.number(value) if math.isfinite(value) else "–"
