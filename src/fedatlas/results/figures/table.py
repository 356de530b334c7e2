"""A table: algorithms by the values of an axis, mean and standard deviation over seeds."""

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fedatlas.experiments import labels, scores
from fedatlas.federation.metrics import metric
from fedatlas.registry.options import option
from fedatlas.results.figures import layout
from fedatlas.results.figures.base import Drawing, PanelFigure
from fedatlas.results.figures.figure_data import FigureData
from fedatlas.results.figures.text_fitting import text_width

if TYPE_CHECKING:
    from pandas import DataFrame

ROW, HEADING = 0.27, 0.3  # inches
SIZE = 9.5  # points, of letters
MEMORY = 0.85  # inches of the column of memory
MIN_COLUMN, MIN_WIDTH = 1.02, 4.8  # inches; the latter for the notes at the foot
CENTRED: dict[str, Any] = {"ha": "center", "va": "center"}


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
        data.require(data.curves, x, *metrics)
        rows = data.rows(data.curves)
        numbers = _numbers(data, rows, metrics)
        memory = data.memory if self.memory else None
        if memory is not None:
            numbers["memory"] = numbers["algorithm"].map(memory)
        values, blocks = list(dict.fromkeys(rows[x])), data.panels(rows)
        titles = list(map(labels.mathematical, layout.column_titles(data, x, values)))
        names = 0.35 + max(text_width(name, SIZE) for name in data.names.values())
        widths = _column_widths(numbers, titles, metrics)
        width = max(MIN_WIDTH, names + sum(widths) + (MEMORY if memory is not None else 0))
        titled = sum(bool(title) for title, _ in blocks)
        height = 2 * HEADING + ROW * (len(blocks) * len(data.styles) + titled) + 0.45
        figure = layout.empty_figure((width, height), fixed=True)
        ax = figure.subplots()
        ax.set_axis_off()
        ax.set(xlim=(0, width), ylim=(height - 0.3, 0))
        edges = [names + sum(widths[:n]) for n in range(len(widths) + 1)]
        middles = [(start + end) / 2 for start, end in itertools.pairwise(edges)]
        for column, title in enumerate(titles):
            left, right = edges[column * len(metrics)], edges[(column + 1) * len(metrics)]
            ax.text((left + right) / 2, HEADING / 2, title, fontweight="bold", **CENTRED)
        for middle, name in zip(middles, metrics * len(titles), strict=True):
            ax.text(middle, 1.5 * HEADING, labels.column_heading(name), **CENTRED)
        if memory is not None:
            ax.text(width - MEMORY / 2, HEADING, "vectors kept\nby a client", fontsize=8.5, **CENTRED)
        y = 2 * HEADING
        ax.axhline(y, color="#444444", linewidth=0.9)
        for title, part in blocks:
            if title:
                y += ROW
                ax.text(0.02, y - ROW / 2, title, va="center", style="italic")
            block = numbers[numbers[self.panel] == part[self.panel].iloc[0]] if self.panel else numbers
            for id in data.styles:
                y += ROW
                ax.text(0.12 if title else 0.02, y - ROW / 2, data.names[id], va="center")
                columns = [(value, name) for value in values for name in metrics]
                for middle, (value, name) in zip(middles, columns, strict=True):
                    text, best = _cell(block[(block[x] == value) & (block["metric"] == name)], id, name)
                    ax.text(middle, y - ROW / 2, text, fontweight="bold" if best else None, **CENTRED)
                if memory is not None:
                    ax.text(width - MEMORY / 2, y - ROW / 2, labels.text(memory[id]), **CENTRED)
            ax.axhline(y, color="#bbbbbb", linewidth=0.7)
        unit = "Percent; " if all(metric(name).percent for name in metrics) else ""
        spread = f"mean ± standard deviation over {data.counted_seeds}" if data.seeds > 1 else "one seed"
        bold = "The best means are bold." if len(data.styles) > 1 else ""
        note = f"{unit}{data.view.select.values}, {spread}."
        layout.add_notes(figure, note[0].upper() + note[1:], bold)
        return Drawing(figure, numbers)


def _column_widths(numbers: "DataFrame", titles: list[str], metrics: list[str]) -> list[float]:
    """Return the widths of all columns of metrics in inches, which hold their texts and share the titles."""
    texts = [
        _cell(numbers[numbers.index == row], numbers["algorithm"][row], numbers["metric"][row])[0]
        for row in numbers.index
    ]
    widest = max(MIN_COLUMN, *(text_width(text, SIZE, "bold") + 0.15 for text in texts))
    widest = max(widest, *(text_width(labels.column_heading(name), SIZE) + 0.15 for name in metrics))
    return [max(widest, (text_width(title, SIZE, "bold") + 0.15) / len(metrics)) for title in titles for _ in metrics]


def _numbers(data: FigureData, rows: "DataFrame", metrics: Iterable[str]) -> "DataFrame":
    """Return means and deviations: a row for each algorithm, point of the axes and metric."""
    import pandas as pd

    axes, select = data.view.axes, data.view.select
    keys, parts = ["algorithm", *axes, "seed"], []
    evaluated = rows[rows["round"] > 0]
    status = evaluated.groupby(keys, sort=False)["status"].last()
    for name in metrics:
        run_scores = scores.score_frame(evaluated, keys, name, select.statistic, metric(name).goal, select.last)
        run_scores = run_scores.reindex(status.index).where(status != "diverged")
        seeds = run_scores.groupby(level=["algorithm", *axes], sort=False)
        part = pd.DataFrame(
            {"mean": seeds.agg(lambda v: v.mean(skipna=False)), "sd": seeds.std(), "seeds": seeds.size()}
        )
        parts.append(part.reset_index().assign(metric=name))
    return pd.concat(parts, ignore_index=True)


def _cell(column: "DataFrame", id: str, name: str) -> tuple[str, bool]:
    """Return the text of an algorithm's cell, and whether it is the best of its column.

    Args:
        column: Means and deviations of all algorithms.
        id: Id of the algorithm.
        name: Name of the metric.
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
