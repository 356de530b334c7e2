"""The chosen score against an axis, for example the number of workers (Yuan & Ma 2020, Figures 1 and 3)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from fedatlas.experiments import labels
from fedatlas.experiments.experiment_view import ExperimentView
from fedatlas.experiments.selection import is_numeric, sorted_values
from fedatlas.registry.options import option
from fedatlas.results.comparing.published import fedac_points
from fedatlas.results.figures.base import Drawing, PanelFigure, Scale
from fedatlas.results.figures.description import (
    Line,
    Lines,
    describe_categories,
    describe_lines,
    is_wide,
    limits,
    raise_to_floor,
)
from fedatlas.results.figures.figure_data import FigureData
from fedatlas.results.figures.style import REFERENCE

if TYPE_CHECKING:
    from pandas import DataFrame, Series

LINEAR = "linear speed-up"  # id and name of the line of slope -1
LINEAR_LINE = Line(LINEAR, REFERENCE, "", (4, 3))


@dataclass(frozen=True, kw_only=True)
class Scaling(PanelFigure):
    """The best score of every algorithm against an axis."""

    name = "scaling"

    x: str = option(doc="axis", names="axis")
    y: str | None = option(
        None,
        doc="metric, or hyper-parameter tuned over numbers, whose best value is drawn; by default that which selects",
        names="metric or tuned numbers",
    )
    yscale: Scale | None = option(None, doc="scale of the y-axis; by default the metric's")
    reference: Literal["linear"] | None = option(None, doc="line of linear speed-up")
    published: Literal["fedac"] | None = option(
        None, doc="points that a paper's authors published, drawn as rings where the settings are theirs"
    )

    def measures(self) -> set[str]:
        return {self.x} if self.reference else set()

    def draw(self, data: FigureData) -> Drawing:
        x, column = self.x, _column(data)
        rows = data.rows(data.table[data.table["chosen"]])
        if self.published:
            rows = add_published(rows, data.view)
        numeric, ends = is_numeric(rows[x]), _range(data, column)
        parts: list[tuple[str, str, DataFrame]] = []
        for title, panel in data.panels(rows):
            parts += [(title, id, panel[panel["algorithm"] == id].sort_values(x)) for id in data.styles]
            if self.reference == "linear" and len(points := _reference(panel, x, column)):
                parts.append((title, LINEAR, points))
        columns = {x: x, column: "mean", **dict(zip(ends, ("low", "high"), strict=False))}
        columns |= {name: name for name in ("edge", "published") if name in rows}
        numbers = data.tidy(
            (title, id, line.reindex(columns=list(columns)).rename(columns=columns)) for title, id, line in parts
        )
        shown = [name for name in ("mean", "low", "high", "published") if name in numbers]
        values = numbers.loc[numbers["algorithm"] != LINEAR, shown].to_numpy(float).ravel()
        lines = describe_lines(data.styles, data.names)
        description = Lines(
            x={x: labels.axis(x, data.view.problem)},
            y=("mean", _y_label(data)),
            lines=lines | ({LINEAR: LINEAR_LINE} if self.reference else {}),
            range=("low", "high") if ends else None,
            categories=[] if numeric else describe_categories(sorted_values(rows[x])),
            rings={"published": "published by the authors"} if "published" in numbers else {},
            logx=numeric and is_wide(rows[x]),
            logy=data.log,
            remark="edge" if "edge" in numbers else "",
            hollow=_hollow(rows["edge"]),
            limits=limits(raise_to_floor(values, data.log), data.log),
            note=data.note(numeric) if ends else "",
        )
        return Drawing(numbers, description)


def _hollow(edges: "Series") -> str:
    """Return the meaning of a hollow marker. edges: which values lie at an end of their grid, in words."""
    step_sizes = edges[edges != ""].str.split("; ").explode().str.startswith("lr ").all()
    return f"best {'step size' if step_sizes else 'tuned value'} at the grid's edge"


def add_published(rows: "DataFrame", view: ExperimentView) -> "DataFrame":
    """Return chosen rows of the table with the column ``published``, if the authors published any in their settings."""
    points = fedac_points(view.problem, view.setting, view.select, view.algorithms)
    return rows if points.empty else rows.merge(points, on=["algorithm", "local_steps", "clients"], how="left")


def _column(data: FigureData) -> str:
    """Return the column of the table that is drawn."""
    select = data.view.select
    if data.y in data.view.tune:
        return data.y
    return "score" if data.y == select.metric else f"{select.statistic}_{data.y}"


def _y_label(data: FigureData) -> str:
    if data.y in data.view.tune:
        return f"best {labels.axis(data.y, data.view.problem)}"
    return labels.quantity(data.y, data.view.select.statistic)


def _range(data: FigureData, column: str) -> tuple[str, ...]:
    """Return the columns of the smallest and the largest value over seeds, where there are several."""
    return ("score_min", "score_max") if column == "score" and data.seeds > 1 else ()


def _reference(panel: "DataFrame", x: str, column: str) -> "DataFrame":
    """Return the ends of a line of slope -1 through the best algorithm's first point; no row if there is none."""
    import pandas as pd

    positive = panel[np.isfinite(panel[column]) & (panel[column] > 0) & (panel[x] > 0)]
    if positive.empty:
        return positive[[x, column]]
    first, last = positive[x].min(), positive[x].max()
    start = positive.loc[positive[x] == first, column].min()
    return pd.DataFrame({x: [first, last], column: [start, start * first / last]})
