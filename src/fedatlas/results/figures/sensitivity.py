"""The score on the tuning seeds against the tuned values of a hyper-parameter (FedSPS, Figure 8)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fedatlas.experiments import labels
from fedatlas.experiments.axis_values import parse
from fedatlas.experiments.scores import comparison_scores, goal
from fedatlas.experiments.selection import is_numeric
from fedatlas.registry.options import option
from fedatlas.results.figures import layout
from fedatlas.results.figures.base import Drawing, PanelFigure, Scale
from fedatlas.results.figures.browser_chart import LineChart, category_labels, chart_lines
from fedatlas.results.figures.figure_data import FigureData

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True, kw_only=True)
class Sensitivity(PanelFigure):
    """The score on the tuning seeds at every tried value of a hyper-parameter, the best over the other tuned ones."""

    name = "sensitivity"

    x: str = option(doc="tuned hyper-parameter", names="tuned")
    yscale: Scale | None = option(None, doc="scale of the y-axis; by default that of the metric that selects")

    def draw(self, data: FigureData) -> Drawing:
        import pandas as pd

        x, select = self.x, data.view.select
        data.require(data.table, x)
        metric = select.tuning_metric
        rows = data.rows(data.table[data.table[x].notna()])
        tuning_scores, diverged = comparison_scores(rows)
        panels = data.panels(rows)
        figure, axes = layout.grid(len(panels))
        positions = layout.positions(rows[x])
        cells = {position: cell for cell, position in positions.items()}
        values, words = list(positions.values()), not is_numeric(rows[x])
        wide = not words and values[0] > 0 and values[-1] / values[0] >= 4
        parts: list[tuple[str, str, DataFrame]] = []
        raised = False
        for ax, (title, panel) in zip(axes, panels, strict=True):
            ax.set_title(title)
            if data.log:
                ax.set_yscale("log")
            if words:
                ax.set_xticks(values, [labels.text(parse(cell)) for cell in positions])
            elif wide:
                ax.set_xscale("log")
            for id, style in data.styles.items():
                line = panel[(panel["algorithm"] == id) & (diverged.loc[panel.index] == 0)]
                scores = tuning_scores.loc[line.index].groupby(line[x].map(positions)).agg(goal(metric, select))
                points = pd.DataFrame({x: scores.index.map(cells), "score": scores.to_numpy()})
                parts.append((title, id, points))
                y = layout.raise_to_floor(data, scores)
                raised |= bool((y > scores).any())
                ax.plot(scores.index, y, **(style.properties | ({"linestyle": "none"} if words else {})))
        x_label = labels.axis(x, data.view.problem)
        layout.label(axes, x_label, labels.quantity(metric, select.statistic))
        layout.legend(figure, data.styles, data.names)
        chart = LineChart(
            x={x: labels.plain_text(x_label)},
            y=("score", f"{select.statistic} {labels.words(metric)}"),
            lines=chart_lines(data.styles, data.names),
            categories=category_labels(positions) if words else [],
            logx=wide,
            logy=data.log,
            note="On the tuning seeds, the best over the other tuned hyper-parameters.",
        )
        lost = "Diverged runs are left out." if (diverged > 0).any() else ""
        layout.add_notes(figure, lost, layout.FLOOR_NOTE if raised else "")
        return Drawing(figure, data.tidy(parts), chart)
