"""A table: algorithms, by the values of an axis where one is named, mean and standard deviation over seeds."""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fedatlas.experiments import labels, scores
from fedatlas.federation.metrics import metric
from fedatlas.registry.options import option
from fedatlas.results.comparing.column_format import ColumnFormat
from fedatlas.results.comparing.intervals import within_noise
from fedatlas.results.figures import layout
from fedatlas.results.figures.base import Drawing, PanelFigure
from fedatlas.results.figures.browser_chart import TableChart, plain_text
from fedatlas.results.figures.figure_data import FigureData
from fedatlas.results.figures.text_fitting import text_width

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

ROW, HEADING = 0.27, 0.3  # inches
SIZE = 9.5  # points, of letters
MEMORY = 0.85  # inches of the column of memory
MIN_COLUMN, MIN_WIDTH = 1.02, 4.8  # inches; the latter for the notes at the foot
Cell = tuple[str, bool]  # text, and whether it is bold
Block = tuple[str, list[tuple[str, list[Cell]]]]  # title and rows: the name of an algorithm, and its cells
CENTRED: dict[str, Any] = {"ha": "center", "va": "center"}


@dataclass(frozen=True, kw_only=True)
class Table(PanelFigure):
    """Metrics of the chosen runs: a row for each algorithm, a column for each value of an axis, or one for all.

    A panel is a block of rows. Bold are the best means, and those within noise of them.
    """

    name = "table"

    x: str | None = option(None, doc="axis with a column for each value; by default one setting is shown", names="axis")
    metrics: list[str] | None = option(
        None, doc="metrics; by default the one that selects", names="metric", filled=True
    )
    memory: bool = option(False, doc="whether a column says how many vectors a client keeps from round to round")

    @property
    def inputs(self) -> frozenset[str]:
        return frozenset({"memory"} if self.memory else ())

    def draw(self, data: FigureData) -> Drawing:
        x, metrics = self.x, self.metrics or [data.y]
        data.require(data.curves, *filter(None, [x]), *metrics)
        rows = data.rows(data.curves)
        numbers = _numbers(data, rows, metrics)
        if self.memory:
            numbers["memory"] = numbers["algorithm"].map(data.memory)
        values = list(dict.fromkeys(rows[x])) if x else [None]
        titles = list(map(labels.mathematical, layout.column_titles(data, x, values))) if x else [""]
        blocks = self._blocks(data, rows, numbers, list(itertools.product(values, metrics)))
        figure = _draw(blocks, titles, metrics, _column_widths(numbers, titles, metrics), self.memory)
        note, bold = _notes(data, metrics)
        layout.add_notes(figure, note, bold)
        last = [("vectors kept by a client", 1)] if self.memory else []
        heads = [[("", 1), *((labels.column_heading(name), 1) for name in metrics * len(titles)), *last]]
        if x:
            spans = [(plain_text(title), len(metrics)) for title in titles]
            heads.insert(0, [("", 1), *spans, *(("", 1) for _ in last)])
        texts = [(plain_text(title), [(plain_text(name), cells) for name, cells in lines]) for title, lines in blocks]
        return Drawing(figure, numbers, TableChart(heads, texts, f"{note} {bold}".strip()))

    def _blocks(
        self, data: FigureData, rows: "DataFrame", numbers: "DataFrame", columns: Iterable[tuple[Any, str]]
    ) -> list[Block]:
        """Return the blocks of rows. columns: Value of the axis and metric of each."""
        blocks = []
        for title, part in data.panels(rows):
            block = numbers[numbers[self.panel] == part[self.panel].iloc[0]] if self.panel else numbers
            cells = [column_cells(numbers, block, self.x, value, name) for value, name in columns]
            if self.memory and data.memory is not None:
                cells.append({id: (labels.text(count), False) for id, count in data.memory.items()})
            lines = [(name, [column.get(id, ("", False)) for column in cells]) for id, name in data.names.items()]
            blocks.append((title, lines))
        return blocks


def _draw(
    blocks: Sequence[Block], titles: Sequence[str], metrics: list[str], widths: Sequence[float], memory: bool
) -> "Figure":
    """Return the figure of a table.

    Args:
        blocks: The blocks of rows.
        titles: Title of each group of columns, which has a column for each metric.
        metrics: Names of the metrics.
        widths: Widths of all columns of metrics.
        memory: Whether a last column holds the memory of clients.
    """
    names = 0.35 + max(text_width(name, SIZE) for name, _ in blocks[0][1])
    width = max(MIN_WIDTH, names + sum(widths) + (MEMORY if memory else 0))
    lines = sum(len(rows) + bool(title) for title, rows in blocks)
    height = 2 * HEADING + ROW * lines + 0.45
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
    if memory:
        middles.append(width - MEMORY / 2)
        ax.text(middles[-1], HEADING, "vectors kept\nby a client", fontsize=8.5, **CENTRED)
    y = 2 * HEADING
    ax.axhline(y, color="#444444", linewidth=0.9)
    for title, rows in blocks:
        if title:
            y += ROW
            ax.text(0.02, y - ROW / 2, title, va="center", style="italic")
        for name, cells in rows:
            y += ROW
            ax.text(0.12 if title else 0.02, y - ROW / 2, name, va="center")
            for middle, (text, best) in zip(middles, cells, strict=True):
                ax.text(middle, y - ROW / 2, text, fontweight="bold" if best else None, **CENTRED)
        ax.axhline(y, color="#bbbbbb", linewidth=0.7)
    return figure


def _notes(data: FigureData, metrics: Iterable[str]) -> tuple[str, str]:
    """Return the sentences for the foot: what a number is, and what is bold."""
    several = data.seeds > 1
    unit = "Percent; " if all(metric(name).percent for name in metrics) else ""
    spread = f"mean ± standard deviation over {data.counted_seeds}" if several else "one seed"
    note = f"{unit}{data.view.select.values}, {spread}."
    noise = ", and what is within noise of them" if several else ""
    return f"{note[0].upper()}{note[1:]}", f"Bold: the best means{noise}." if len(data.styles) > 1 else ""


def _column_widths(numbers: "DataFrame", titles: list[str], metrics: list[str]) -> list[float]:
    """Return the widths of all columns of metrics in inches, which hold their texts and share the titles."""
    texts = [
        column_format(numbers, name).text(row["mean"], row["sd"])
        for name, rows in numbers.groupby("metric", sort=False)
        for _, row in rows.iterrows()
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


def column_format(numbers: "DataFrame", name: str) -> ColumnFormat:
    """Return the format of all columns of a metric; numbers: of the whole figure."""
    return ColumnFormat.fitting(numbers.loc[numbers["metric"] == name, "mean"], metric(name).percent)


def column_cells(
    numbers: "DataFrame", block: "DataFrame", x: str | None, value: Any, name: str, tex: bool = False
) -> dict[str, Cell]:
    """Return the text of each algorithm's cell in a column, and whether it is bold, by id.

    Args:
        numbers: Means and deviations of the whole figure.
        block: Those of a block of rows.
        x: The axis with a column for each value, or None.
        value: Its value.
        name: Name of the metric.
        tex: Whether texts are TeX.
    """
    column = block[block["metric"] == name]
    column = column if x is None else column[column[x] == value]
    form = column_format(numbers, name)
    near = within_noise(
        column["mean"].tolist(), column["sd"].tolist(), column["seeds"].tolist(), goal=metric(name).goal
    )
    rows = zip(column["algorithm"], column["mean"], column["sd"], near, strict=True)
    return {id: ((form.tex if tex else form.text)(mean, sd), best and len(column) > 1) for id, mean, sd, best in rows}
