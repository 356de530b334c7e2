"""A table: algorithms, by the values of an axis where one is named, mean and standard deviation over seeds."""

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fedatlas.experiments import labels, scores
from fedatlas.federation.metrics import metric
from fedatlas.registry.options import option
from fedatlas.results.comparing.intervals import within_noise
from fedatlas.results.figures import Drawing, FigureData, PanelFigure
from fedatlas.results.figures.description import Block, Cell, TextTable

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True, kw_only=True)
class Table(PanelFigure):
    """Metrics of the chosen runs: a row for each algorithm, a column for each value of an axis, or one for all.

    A panel is a block of rows. Bold are the best means, and those within noise of them.
    """

    name = "table"
    is_table = True

    x: str | None = option(None, doc="axis with a column for each value; by default one setting is shown", names="axis")
    metrics: list[str] | None = option(
        None, doc="metrics; by default the one that selects", names="metric", filled=True
    )

    def draw(self, data: FigureData) -> Drawing:
        x, metrics = self.x, self.metrics or [data.y]
        rows = data.rows(data.curves)
        numbers = _numbers(data, rows, metrics)
        values = list(dict.fromkeys(rows[x])) if x else [None]
        titles = data.titles(x, values) if x else [""]
        blocks: list[Block] = []
        for title, block in data.panels(numbers):
            cells = [_cells(block, x, value, name) for value, name in itertools.product(values, metrics)]
            lines = [((name,), [column.get(id, Cell()) for column in cells]) for id, name in data.names.items()]
            blocks.append((title, lines))
        headings = [labels.COSTS.get(name) or metric(name).head or labels.words(name) for name in metrics]
        heads = [[(heading, 1) for heading in headings * len(titles)]]
        if x:
            heads.insert(0, [(title, len(metrics)) for title in titles])
        table = TextTable(heads=heads, blocks=blocks, note=labels.join_sentences(*_notes(data, metrics)))
        return Drawing(numbers, table)


def _notes(data: FigureData, metrics: Iterable[str]) -> tuple[str, str]:
    """Return the sentences for the foot: what a number is, and what is bold."""
    several = data.seeds > 1
    unit = "Percent; " if all(metric(name).percent for name in metrics) else ""
    spread = f"mean ± standard deviation over {data.counted_seeds}" if several else "one seed"
    select = data.view.select
    are_means = select.statistic == "final" and select.last > 1
    values = f"means of the last {select.last} values" if are_means else f"{select.statistic} values"
    note = f"{unit}{values}, {spread}."
    noise = ", and what is within noise of them" if several else ""
    return f"{note[0].upper()}{note[1:]}", f"Bold: the best means{noise}." if len(data.styles) > 1 else ""


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


def _cells(block: "DataFrame", x: str | None, value: Any, name: str) -> dict[str, Cell]:
    """Return each algorithm's cell in a column of a block, by id. x, value: Axis of the column and its value."""
    column = block[block["metric"] == name]
    column = column if x is None else column[column[x] == value]
    means, sds, counts = (column[key].tolist() for key in ("mean", "sd", "seeds"))
    near = within_noise(means, sds, counts, goal=metric(name).goal)
    rows = zip(column["algorithm"], means, sds, near, strict=True)
    return {id: Cell(_text(mean, sd, name), best and len(column) > 1) for id, mean, sd, best in rows}


def _text(mean: float, sd: float, name: str) -> str:
    """Return a mean of a metric with its deviation, which NaN leaves out: ``61.9 ± 2.9`` or ``0.92 ± 0.03``."""
    if not math.isfinite(mean):
        return "diverged"
    numbers = [number for number in (mean, sd) if not math.isnan(number)]
    if metric(name).percent:
        return " ± ".join(f"{100 * number:.1f}" for number in numbers)
    return " ± ".join(labels.number(number, digits) for number, digits in zip(numbers, (3, 2), strict=False))
