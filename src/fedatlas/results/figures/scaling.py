"""The chosen score against an axis, for example the number of workers (Yuan & Ma 2020, Figures 1 and 3)."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fedatlas.experiments import labels
from fedatlas.experiments.axis_values import parse
from fedatlas.experiments.experiment_view import ExperimentView
from fedatlas.experiments.selection import is_numeric
from fedatlas.registry.options import option
from fedatlas.results.comparing.published import fedac_points
from fedatlas.results.figures import layout
from fedatlas.results.figures.base import Drawing, PanelFigure, Scale
from fedatlas.results.figures.browser_chart import ChartLine, LineChart, category_labels, chart_lines
from fedatlas.results.figures.figure_data import FigureData
from fedatlas.results.figures.style import REFERENCE, WIDTH

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from pandas import DataFrame

    from fedatlas.experiments.cells import Run

SLOPE, LINEAR = (0, (4, 3)), "linear speed-up"  # the line of slope -1
RING: dict[str, Any] = {"linestyle": "none", "markersize": 7.5, "markerfacecolor": "none", "markeredgewidth": 0.8}
DOTTED = {"bound": "promised by the theorem", "published": "published by the authors"}  # columns, in the browser
LINEAR_LINE = ChartLine(LINEAR, REFERENCE, "", (4, 3))


@dataclass(frozen=True, kw_only=True)
class Scaling(PanelFigure):
    """The best score of every algorithm against an axis; dotted, what theorems promise."""

    name = "scaling"

    x: str = option(doc="axis", names="axis")
    y: str | None = option(
        None,
        doc="metric, or hyper-parameter tuned over numbers, whose best value is drawn; by default that which selects",
        names="metric or tuned numbers",
    )
    yscale: Scale | None = option(None, doc="scale of the y-axis; by default the metric's")
    reference: Literal["linear"] | None = option(None, doc="line of linear speed-up")
    theorems: dict[str, str] = option(
        dict, doc="theorems of the FedAc paper, by algorithm, whose bounds are drawn over its scores", names="theorems"
    )
    published: Literal["fedac"] | None = option(
        None, doc="points that a paper's authors published, drawn as rings where the settings are theirs"
    )

    @property
    def inputs(self) -> frozenset[str]:
        return frozenset({"theorems"} if self.theorems else ())

    def measures(self) -> set[str]:
        return {self.x} if self.reference else set()

    def fits(self, runs: "Iterable[tuple[str, Run]]") -> None:
        from fedatlas.theory.fedac import bounds

        for id, run in runs:
            if id in self.theorems:
                bounds.validate_run(run)

    def draw(self, data: FigureData) -> Drawing:
        x, column = self.x, _column(data)
        data.require(data.table, x, column)
        rows = data.rows(data.table[data.table["chosen"]])
        if self.published:
            rows = add_published(rows, data.view)
        far = _far_bounds(rows, column) if data.log and "bound" in rows else {}
        numbers_on_x, ends = is_numeric(rows[x]), _range(data, column)
        panels = data.panels(rows)
        figure, axes = layout.grid(len(panels))
        positions = layout.positions(rows[x])
        count = len(data.styles)
        shifts = np.linspace(-0.25, 0.25, count) if count > 1 and not numbers_on_x else np.zeros(count)
        parts: list[tuple[str, str, DataFrame]] = []
        for ax, (title, panel) in zip(axes, panels, strict=True):
            ax.set_title(title)
            if data.log:
                ax.set_yscale("log")
            for shift, (id, style) in zip(shifts, data.styles.items(), strict=True):
                line = panel[panel["algorithm"] == id]
                parts.append((title, id, line))
                line = line.assign(at=line[x].map(positions) + shift).sort_values("at")
                _draw_line(ax, data, id, line, column, numbers_on_x)
                if "published" in line:
                    ax.plot(line["at"], line["published"], **(style.properties | RING))
                if id in self.theorems and id not in far:
                    ax.plot(line["at"], line["bound"], color=style.colour, linestyle=layout.DOTS, linewidth=1.4)
            if self.reference == "linear" and len(points := _reference(panel, x, column)):
                ax.plot(points[x], points[column], color=REFERENCE, linestyle=SLOPE, linewidth=1.1, zorder=1.5)
                parts.append((title, LINEAR, points))
        _scale_x(axes, positions, numbers_on_x)
        finite = rows[[name for name in (column, *ends, "published") if name in rows]].to_numpy(float).ravel()
        if "bound" in rows:
            finite = np.append(finite, rows.loc[~rows["algorithm"].isin(list(far)), "bound"].to_numpy(float))
        if bounds := layout.limits(layout.raise_to_floor(data, finite), data.log):
            axes[0].set_ylim(*bounds)
        x_label, y_label = labels.axis(x, data.view.problem), _y_label(data)
        bounds_note = [f"Above the figure: Theorem {self.theorems[id]}, {text}." for id, text in far.items()]
        note = " ".join(filter(None, [data.note(numbers_on_x) if ends else "", *bounds_note]))
        layout.label(axes, x_label, y_label)
        layout.legend(figure, data.styles, data.names, *self._handles(data, rows, column, far))
        layout.add_notes(figure, layout.wrap_notes(figure.get_figwidth(), note))
        columns = {x: x, column: "mean", **dict(zip(ends, ("low", "high"), strict=False))}
        columns |= {name: name for name in ("bound", "edge", "published") if name in rows}
        numbers = data.tidy(
            (title, id, line.reindex(columns=list(columns)).rename(columns=columns)) for title, id, line in parts
        )
        chart = LineChart(
            x={x: labels.plain_text(x_label)},
            y=("mean", labels.plain_text(y_label)),
            lines=chart_lines(data.styles, data.names) | ({LINEAR: LINEAR_LINE} if self.reference else {}),
            range=("low", "high") if ends else None,
            categories=[] if numbers_on_x else category_labels(positions),
            dotted={
                name: words
                for name, words in DOTTED.items()
                if name in numbers and (name != "bound" or not far.keys() >= self.theorems.keys())
            },
            logx=numbers_on_x and _is_wide(list(positions.values())),
            logy=data.log,
            remark="edge" if "edge" in numbers else "",
            limits=axes[0].get_ylim(),
            note=note,
        )
        return Drawing(figure, numbers, chart)

    def _handles(self, data: FigureData, rows: "DataFrame", column: str, hidden: Collection[str]) -> "Iterator[Artist]":
        """Yield the legend handles of lines and marks that do not belong to an algorithm."""
        if self.reference == "linear":
            yield layout.note_handle(LINEAR, color=REFERENCE, linestyle=SLOPE, linewidth=1.1)
        for id, name in self.theorems.items():
            if id in hidden:
                continue
            colour = data.styles[id].colour
            yield layout.note_handle(f"Theorem {name}", color=colour, linestyle=layout.DOTS, linewidth=1.4)
        if "published" in rows:
            yield layout.note_handle("published by the authors", **({"marker": "o"} | RING))
        edges = rows.loc[rows["edge"] != "", "edge"]
        if len(edges):
            step_sizes = edges.str.split("; ").explode().str.startswith("lr ").all()
            words = "step size" if step_sizes else "tuned value"
            yield layout.note_handle(f"best {words} at the grid's edge", marker="o", markerfacecolor="white")
        if not np.isfinite(rows[column]).all():
            yield layout.note_handle("diverged", marker="x")


def _far_bounds(rows: "DataFrame", column: str) -> dict[str, str]:
    """Return how far above an algorithm's scores its bounds lie, in words by id, where they would press scores flat.

    Args:
        rows: Rows of the table with the column ``bound``.
        column: Column of the scores.
    """
    scores = rows[column].to_numpy(float)
    top = scores[np.isfinite(scores)].max(initial=0)
    return {
        str(id): layout.range_of_ratios(part["bound"] / part[column])
        for id, part in rows.groupby("algorithm", sort=False)
        if part["bound"].min() > layout.FAR_BOUND * top > 0
    }


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


def _draw_line(ax: "Axes", data: FigureData, id: str, line: "DataFrame", column: str, numbers_on_x: bool) -> None:
    """Draw the scores of an algorithm with their ranges; those at the grid's edge are hollow, diverged ones crosses.

    Args:
        ax: The axes.
        data: Data of the figure.
        id: Id of the algorithm.
        line: Rows of the table, with their positions in the column ``at``.
        column: Column of the scores.
        numbers_on_x: Whether points are connected, because the axis holds numbers.
    """
    style = data.styles[id]
    finite = line[np.isfinite(line[column])]
    x, y = finite["at"].to_numpy(float), layout.raise_to_floor(data, finite[column])
    ends = [layout.raise_to_floor(data, finite[name]) for name in _range(data, column)]
    if numbers_on_x:
        ax.plot(x, y, color=style.colour, linestyle=style.line, linewidth=WIDTH * style.weight, zorder=style.layer)
        if ends:
            layout.draw_range(ax, style, x, ends[0], ends[1], data.position(id))
    elif ends:
        ax.vlines(x, *ends, color=style.colour, linewidth=1.4)
    inner = (finite["edge"] == "").to_numpy()
    for rows, face in ((inner, style.colour), (~inner, "white")):
        points: dict[str, Any] = {"linestyle": "none", "markerfacecolor": face, "zorder": style.layer + 0.1}
        ax.plot(x[rows], y[rows], **(style.properties | points))
    diverged = line.loc[~np.isfinite(line[column]), "at"].to_numpy()
    if len(diverged):
        top = np.full(len(diverged), 0.97)
        ax.plot(diverged, top, "x", color=style.colour, transform=ax.get_xaxis_transform(), zorder=3)


def _reference(panel: "DataFrame", x: str, column: str) -> "DataFrame":
    """Return the ends of a line of slope -1 through the best algorithm's first point; no row if there is none."""
    import pandas as pd

    positive = panel[np.isfinite(panel[column]) & (panel[column] > 0) & (panel[x] > 0)]
    if positive.empty:
        return positive[[x, column]]
    first, last = positive[x].min(), positive[x].max()
    start = positive.loc[positive[x] == first, column].min()
    return pd.DataFrame({x: [first, last], column: [start, start * first / last]})


def _is_wide(values: "Sequence[float]") -> bool:
    """Return whether values spread so much that their axis is logarithmic."""
    return min(values) > 0 and max(values) / min(values) >= 4


def _scale_x(axes: "Sequence[Axes]", positions: Mapping[Any, float], numeric: bool) -> None:
    """Set scale and ticks of the x-axis: powers of two as such, other numbers by their spread, words one by one."""
    from matplotlib.ticker import FixedLocator, NullLocator

    values = list(positions.values())
    log = numeric and _is_wide(values)
    powers = log and all(float(value).is_integer() and int(value) & (int(value) - 1) == 0 for value in values)
    _, columns = layout.grid_shape(axes)
    step = max(1, -(-len(values) // (12 // columns + 3))) if numeric else 1
    ticks = dict(list(positions.items())[::step])
    if powers and max(values) >= 1024:
        texts = [f"$2^{{{int(np.log2(value))}}}$" for value in ticks]
    else:
        texts = [labels.text(parse(cell)) for cell in ticks]
    for ax in axes:
        if log:
            ax.set_xscale("log", base=2)
        elif not numeric:
            ax.set_xlim(-0.5, len(values) - 0.5)
        ax.xaxis.set_major_locator(FixedLocator(list(ticks.values())))
        ax.xaxis.set_minor_locator(NullLocator())
        ax.set_xticks(list(ticks.values()), texts)
