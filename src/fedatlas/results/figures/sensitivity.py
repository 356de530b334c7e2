"""The score on the tuning seeds against the values that a hyper-parameter was tried at (FedSPS, Figure 8)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fedatlas.experiments import labels
from fedatlas.experiments.axis_values import parse
from fedatlas.experiments.scores import comparison_scores, goal
from fedatlas.experiments.selection import is_numeric
from fedatlas.registry.options import option
from fedatlas.results.figures import layout
from fedatlas.results.figures.base import Drawing, PanelFigure, Scale
from fedatlas.results.figures.browser_chart import Chart, categories, lines, plain
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
        x, select = self.x, data.view.select
        data.column(data.table, x)
        metric = select.tuning_metric
        rows = data.rows(data.table[data.table[x].notna()])
        every, diverged = comparison_scores(rows)
        panels = data.panels(rows)
        figure, axes = layout.grid(len(panels))
        positions = layout.positions(rows[x])
        values, words = list(positions.values()), not is_numeric(rows[x])
        shown: list[tuple[str, str, DataFrame]] = []
        cut = False
        for ax, (title, part) in zip(axes, panels, strict=True):
            ax.set_title(title)
            if data.log:
                ax.set_yscale("log")
            if words:
                ax.set_xticks(values, [labels.text(parse(cell)) for cell in positions])
            elif values[0] > 0 and values[-1] / values[0] >= 4:
                ax.set_xscale("log")
            for id, look in data.styles.items():
                own = part[(part["algorithm"] == id) & (diverged.loc[part.index] == 0)]
                scores = every.loc[own.index].groupby(own[x].map(positions)).agg(goal(metric, select))
                cells = {at: cell for cell, at in positions.items()}
                shown.append((title, id, scores.rename("score").rename_axis("at").reset_index()))
                shown[-1][2].insert(0, x, shown[-1][2].pop("at").map(cells))
                points: dict[str, Any] = {"marker": look.marker, "markersize": look.size}
                line = "none" if words else look.line
                drawn = layout.raised(data, scores)
                cut |= bool((drawn > scores).any())
                ax.plot(scores.index, drawn, color=look.colour, linestyle=line, zorder=look.layer, **points)
        layout.label(axes, labels.axis(x, data.view.problem), labels.quantity(metric, select.statistic))
        layout.legend(figure, data)
        numbers = data.tidy(shown)
        chart = Chart(
            x={x: plain(labels.axis(x, data.view.problem))},
            y=("score", f"{select.statistic} {labels.words(metric)}"),
            lines=lines(data.styles, data.names),
            categories=categories(positions) if words else [],
            logx=not words and values[0] > 0 and values[-1] / values[0] >= 4,
            logy=data.log,
            note="On the tuning seeds, the best over the other tuned hyper-parameters.",
        )
        layout.foot(figure, "What diverged is left out." if (diverged > 0).any() else "", layout.RAISED if cut else "")
        return Drawing(figure, numbers, chart)
