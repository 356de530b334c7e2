"""The score on the tuning seeds against the tuned values of a hyper-parameter (FedSPS, Figure 8)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fedatlas.experiments import labels
from fedatlas.experiments.scores import comparison_scores, goal
from fedatlas.experiments.selection import is_numeric, sorted_values
from fedatlas.registry.options import option
from fedatlas.results.figures.base import Drawing, PanelFigure, Scale
from fedatlas.results.figures.description import (
    FLOOR,
    FLOOR_NOTE,
    Lines,
    describe_categories,
    describe_lines,
    is_wide,
    limits,
    raise_to_floor,
)
from fedatlas.results.figures.figure_data import FigureData

if TYPE_CHECKING:
    from pandas import DataFrame

TRIED = "On the tuning seeds, the best over the other tuned hyper-parameters."


@dataclass(frozen=True, kw_only=True)
class Sensitivity(PanelFigure):
    """The score on the tuning seeds at every tried value of a hyper-parameter, the best over the other tuned ones."""

    name = "sensitivity"

    x: str = option(doc="tuned hyper-parameter", names="tuned")
    yscale: Scale | None = option(None, doc="scale of the y-axis; by default that of the metric that selects")

    def draw(self, data: FigureData) -> Drawing:
        x, select = self.x, data.view.select
        metric = select.tuning_metric
        rows = data.rows(data.table[data.table[x].notna()])
        tuning_scores, diverged = comparison_scores(rows)
        cells, numeric = sorted_values(rows[x]), is_numeric(rows[x])
        parts: list[tuple[str, str, DataFrame]] = []
        for title, panel in data.panels(rows):
            for id in data.styles:
                line = panel[(panel["algorithm"] == id) & (diverged.loc[panel.index] == 0)]
                scores = tuning_scores.loc[line.index].groupby(line[x], sort=False).agg(goal(metric, select))
                scores = scores.reindex([cell for cell in cells if cell in scores.index])
                parts.append((title, id, scores.rename("score").rename_axis(x).reset_index()))
        numbers = data.tidy(parts)
        lost = "Diverged runs are left out." if (diverged > 0).any() else ""
        raised = data.log and bool((numbers["score"] < FLOOR).any())
        description = Lines(
            x={x: labels.axis(x, data.view.problem)},
            y=("score", labels.quantity(metric, select.statistic)),
            lines=describe_lines(data.styles, data.names),
            categories=[] if numeric else describe_categories(cells),
            logx=numeric and is_wide(cells),
            logy=data.log,
            limits=limits(raise_to_floor(numbers["score"], data.log), data.log),
            note=labels.join_sentences(TRIED, lost, FLOOR_NOTE if raised else ""),
        )
        return Drawing(numbers, description)
