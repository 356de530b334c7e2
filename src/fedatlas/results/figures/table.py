"""A table: algorithms by the values of an axis, mean and standard deviation over seeds."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fedatlas.experiments import labels, scores
from fedatlas.federation.metrics import metric
from fedatlas.registry.options import option
from fedatlas.results.figures import layout
from fedatlas.results.figures.base import Drawing, PanelFigure
from fedatlas.results.figures.figure_data import FigureData
from fedatlas.results.figures.text_fitting import width as width_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

ROW, HEAD = 0.27, 0.3  # inches
SIZE = 9.5  # points, of letters
NARROWEST = 4.8  # inches, for the notes at the foot


@dataclass(frozen=True, kw_only=True)
class Table(PanelFigure):
    """Metrics of the chosen runs: a row for each algorithm, a column for each value of an axis.

    A panel is a block of rows.
    """

    name = "table"

    x: str = option(doc="axis with a column for each value", names="axis")
    metrics: list[str] | None = option(
        None, doc="metrics; by default the one that selects", names="metric", filled=True
    )
    memory: bool = option(False, doc="whether a column says how many vectors a client keeps from round to round")

    @property
    def inputs(self) -> frozenset[str]:
        return frozenset({"memory"} if self.memory else ())

    def draw(self, data: FigureData) -> Drawing:
        x, metrics = self.x, self.metrics or [data.y]
        data.column(data.curves, x, *metrics)
        rows = data.rows(data.curves)
        numbers = _numbers(data, rows, metrics)
        memory = data.memory if self.memory else None
        if memory is not None:
            numbers["memory"] = numbers["algorithm"].map(memory)
        values, blocks = list(dict.fromkeys(rows[x])), data.panels(rows)
        heads = list(map(labels.mathematical, layout.heads(data, x, values)))
        name_width = 0.35 + max(width_of(name, SIZE) for name in data.names.values())
        texts = [
            _cell(numbers[numbers.index == at], numbers["algorithm"][at], numbers["metric"][at])[0]
            for at in numbers.index
        ]
        widest = max(1.02, *(width_of(text, SIZE, "bold") + 0.15 for text in texts))
        widest = max(widest, *(width_of(labels.column_heading(name), SIZE) + 0.15 for name in metrics))
        widths = [max(widest, (width_of(head, SIZE, "bold") + 0.15) / len(metrics)) for head in heads for _ in metrics]
        width = max(NARROWEST, name_width + sum(widths) + (0.85 if memory is not None else 0))
        titled = [bool(title) for title, _ in blocks]
        height = 2 * HEAD + ROW * (len(blocks) * len(data.styles) + sum(titled)) + 0.45
        figure = layout.blank((width, height), fixed=True)
        ax = figure.subplots()
        ax.set_axis_off()
        ax.set(xlim=(0, width), ylim=(height - 0.3, 0))
        edges = [name_width + sum(widths[:n]) for n in range(len(widths) + 1)]
        _write_heads(ax, heads, metrics, edges)
        if memory is not None:
            ax.text(width - 0.42, HEAD, "vectors kept\nby a client", ha="center", va="center", fontsize=8.5)
        at = 2 * HEAD
        ax.axhline(at, color="#444444", linewidth=0.9)
        for title, part in blocks:
            if title:
                at += ROW
                ax.text(0.02, at - ROW / 2, title, va="center", style="italic")
            block = numbers[numbers[self.panel] == part[self.panel].iloc[0]] if self.panel else numbers
            for id in data.styles:
                at += ROW
                ax.text(0.12 if title else 0.02, at - ROW / 2, data.names[id], va="center")
                for number, (value, name) in enumerate((v, m) for v in values for m in metrics):
                    text, best = _cell(block[(block[x] == value) & (block["metric"] == name)], id, name)
                    middle = (edges[number] + edges[number + 1]) / 2
                    weight = "bold" if best else None
                    ax.text(middle, at - ROW / 2, text, ha="center", va="center", fontweight=weight)
                if memory is not None:
                    ax.text(width - 0.42, at - ROW / 2, labels.text(memory[id]), ha="center", va="center")
            ax.axhline(at, color="#bbbbbb", linewidth=0.7)
        unit = "Percent; " if all(metric(name).percent for name in metrics) else ""
        spread = f"mean ± standard deviation over {data.counted_seeds}" if data.seeds > 1 else "one seed"
        bold = "The best means are bold." if len(data.styles) > 1 else ""
        told = f"{unit}{data.view.select.values}, {spread}."
        layout.foot(figure, told[0].upper() + told[1:], bold)
        return Drawing(figure, numbers)


def _write_heads(ax: "Axes", heads: Sequence[str], metrics: Sequence[str], edges: Sequence[float]) -> None:
    """Values of the axis above the metrics. edges: of the columns, from left to right."""
    for number, head in enumerate(heads):
        left, right = edges[number * len(metrics)], edges[(number + 1) * len(metrics)]
        ax.text((left + right) / 2, HEAD / 2, head, ha="center", va="center", fontweight="bold")
        for k, name in enumerate(metrics):
            middle = sum(edges[number * len(metrics) + k :][:2]) / 2
            ax.text(middle, 1.5 * HEAD, labels.column_heading(name), ha="center", va="center")


def _numbers(data: FigureData, rows: "DataFrame", metrics: Iterable[str]) -> "DataFrame":
    """Tidy means and deviations: a row for each algorithm, point of the axes and metric."""
    import pandas as pd

    axes, select = data.view.axes, data.view.select
    of_runs, found = ["algorithm", *axes, "seed"], []
    evaluated = rows[rows["round"] > 0]
    status = evaluated.groupby(of_runs, sort=False)["status"].last()
    for name in metrics:
        each = scores.score_frame(evaluated, of_runs, name, select.statistic, metric(name).goal, select.last)
        each = each.reindex(status.index).where(status != "diverged")
        seeds = each.groupby(level=["algorithm", *axes], sort=False)
        part = pd.DataFrame(
            {"mean": seeds.agg(lambda v: v.mean(skipna=False)), "sd": seeds.std(), "seeds": seeds.size()}
        )
        found.append(part.reset_index().assign(metric=name))
    return pd.concat(found, ignore_index=True)


def _cell(column: "DataFrame", id: str, name: str) -> tuple[str, bool]:
    """The text of an algorithm's cell, and whether it is the best of its column.

    column: means and deviations of all algorithms. name: of the metric.
    """
    row = column[column["algorithm"] == id]
    if row.empty:
        return "", False
    mean, sd = float(row["mean"].iloc[0]), float(row["sd"].iloc[0])
    if not math.isfinite(mean):
        return "diverged", False
    record = metric(name)
    percent = (f"{100 * mean:.1f}", f"{100 * sd:.1f}")
    text, spread = percent if record.percent else (labels.number(mean), labels.number(sd, 2))
    best = len(column) > 1 and mean == column["mean"].agg(record.goal)
    return (f"{text} ± {spread}" if math.isfinite(sd) else text), bool(best)
