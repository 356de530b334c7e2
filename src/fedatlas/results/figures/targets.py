"""Table of the costs to attain targets: rounds or seconds to an accuracy (Sun et al. 2023, Tables 4 and 5)."""

import math
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fedatlas.experiments import labels
from fedatlas.experiments.cells import Select
from fedatlas.experiments.scores import goal
from fedatlas.registry.options import option
from fedatlas.results.comparing.intervals import within_noise
from fedatlas.results.figures import Drawing, FigureData, PanelFigure
from fedatlas.results.figures.cost_figure import CostFigure
from fedatlas.results.figures.description import Cell, TextTable

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True, kw_only=True)
class Targets(PanelFigure, CostFigure):
    """A table of the cost at which the mean of a metric over seeds first attains each target, by algorithm.

    With several seeds the least costs are bold, and those within noise of them.
    """

    name = "targets"
    is_table = True

    y: str | None = option(None, doc="metric; by default the one that selects", names="metric")
    targets: list[float] = option(doc="values of the metric", filled=True, distinct=True)

    def draw(self, data: FigureData) -> Drawing:
        import pandas as pd

        panels, goal = data.panels(data.rows(data.curves)), self.targets
        numbers = pd.DataFrame(
            [
                (title, id, target, *self._attained(data, panel[panel["algorithm"] == id], target))
                for title, panel in panels
                for target in goal
                for id in data.styles
            ],
            columns=["panel", "algorithm", "target", "cost", "sd", "seeds"],
        )
        columns = []
        for _, column in numbers.groupby(["panel", "target"], sort=False):
            costs, sds, seeds = (column[name].tolist() for name in ("cost", "sd", "seeds"))
            near = within_noise(costs, sds, seeds, "min")
            columns.append([Cell(_text(cost), best and data.seeds > 1) for cost, best in zip(costs, near, strict=True)])
        rows = [((name,), cells) for name, *cells in zip(data.names.values(), *columns, strict=True)]
        bold = "Bold: the least, and what is within noise of it." if data.seeds > 1 else ""
        mean = f" (mean of {data.counted_seeds})" if data.seeds > 1 else ""
        reached = f"{self.words.capitalize()} until the {labels.words(data.y)}{mean} first attains a target; – never."
        titles = [[(title, len(goal)) for title, _ in panels]] if self.panel else []
        heads = [*titles, [(labels.number(target), 1) for _ in panels for target in goal]]
        table = TextTable(heads=heads, blocks=[("", rows)], note=labels.join_sentences(reached, bold))
        return Drawing(numbers if self.panel else numbers.drop(columns="panel"), table)

    def _attained(self, data: FigureData, curve: "DataFrame", target: float) -> tuple[float, float, int]:
        """Return the cost of a target, its deviation over the seeds' own costs, and their number.

        The deviation is NaN with one seed, and where a seed does not attain the target.
        """
        costs = [self._cost(data, rows, target) for _, rows in curve.groupby("seed")]
        deviation = statistics.stdev(costs) if len(costs) > 1 and all(map(math.isfinite, costs)) else math.nan
        return self._cost(data, curve, target), deviation, len(costs)

    def _cost(self, data: FigureData, curve: "DataFrame", target: float) -> float:
        """Return the mean cost over seeds in the first round that attains the target; inf if none does."""
        if curve.empty:
            return math.nan
        first = _rounds_to_target(curve, data.y, target, data.view.select)
        known = self.cost == "round" or math.isinf(first)
        return first if known else float(curve.loc[curve["round"] == first, self.cost].mean())


def _text(value: float) -> str:
    if math.isnan(value):
        return ""
    return labels.number(value) if math.isfinite(value) else "–"


def _rounds_to_target(curve: "DataFrame", name: str, target: float, select: Select) -> float:
    """Return the first evaluated round in which the mean of a metric over seeds attains a target; inf if none does.

    curve: evaluations of an algorithm at a point. A seed that diverged has no value, and a round in which any seed has
    none does not count.
    """
    groups = curve.groupby("round")[name]
    mean = groups.mean()[groups.count() == curve["seed"].nunique()]
    attaining = mean[(mean <= target) if goal(name, select) == "min" else (mean >= target)]
    return float(attaining.index.min()) if len(attaining) else math.inf
