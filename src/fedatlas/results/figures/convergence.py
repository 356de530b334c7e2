"""A metric against a cost: communication rounds, gradients, vectors sent, seconds."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fedatlas.experiments import labels, scores
from fedatlas.registry.options import option
from fedatlas.results.figures import layout
from fedatlas.results.figures.base import Drawing, PanelFigure, Scale
from fedatlas.results.figures.browser_chart import Chart, lines
from fedatlas.results.figures.cost_figure import CostFigure
from fedatlas.results.figures.figure_data import FigureData
from fedatlas.results.figures.style import Style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from pandas import DataFrame


@dataclass(frozen=True, kw_only=True)
class Convergence(PanelFigure, CostFigure):
    """A metric of the chosen runs against a cost, mean and range over seeds."""

    name = "convergence"

    y: str | None = option(None, doc="metric; by default the one that selects", names="metric")
    yscale: Scale | None = option(None, doc="scale of the y-axis; by default the metric's")
    xscale: Scale = option("linear", doc="scale of the x-axis")
    so_far: bool = option(
        False, doc="whether each run shows its best value so far, and not the value of the evaluation"
    )

    def draw(self, data: FigureData) -> Drawing:
        cost = self.cost
        data.column(data.curves, cost, data.y)
        rows = data.rows(data.curves)
        panels = data.panels(_so_far(rows, data) if self.so_far else rows)
        figure, axes = layout.grid(len(panels), share_x=False)
        drawn, ends, cut = [], [], False
        shown, abscissas = [], self.against(rows)
        for ax, (title, part) in zip(axes, panels, strict=True):
            ax.set_title(title)
            if data.log:
                ax.set_yscale("log")
            for number, (id, look) in enumerate(data.styles.items()):
                curve = average(part[part["algorithm"] == id], cost, data.y, list(abscissas))
                if not len(curve):
                    continue
                cut |= data.log and bool((curve["low"] < layout.FLOOR).any())
                diverged = (part.loc[part["algorithm"] == id, "status"] == "diverged").any()
                line(ax, curve, look, (number, len(data.styles)), data.log, data.seeds > 1)
                drawn.append(curve[:1] if diverged else curve)
                remark = np.where(diverged & (np.arange(len(curve)) == len(curve) - 1), "diverged after this", "")
                shown.append((title, id, curve.reset_index(drop=True).assign(remark=remark)))
                ends += [(ax, curve, look)] if diverged else []
            ax.margins(x=0.02)
            if self.xscale == "log":
                ax.set_xscale("symlog", linthresh=1)  # with 0, where all start
            elif not self.x.endswith("seconds"):
                ax.locator_params(axis="x", integer=True)
            ax.set_xlim(left=0)
        limit(axes, drawn, data.log)
        for one in ends:
            end(*one)
        layout.label(axes, self.words, labels.quantity(data.y, "best" if self.so_far else ""))
        layout.legend(figure, data, [layout.mark("diverged", marker="x")] if ends else ())
        layout.foot(figure, data.note(), layout.RAISED if cut else "")
        numbers = _tidy(data, shown)
        chart = Chart(
            x=abscissas,
            y=("mean", " ".join(["best"] * self.so_far + [labels.words(data.y)])),
            lines=lines(data.styles, data.names),
            range=("low", "high"),
            logx=self.xscale == "log",
            logy=data.log,
            remark="remark",
            limits=axes[0].get_ylim(),
            note=data.note(),
        )
        return Drawing(figure, numbers, chart)


def _tidy(data: FigureData, shown: "Sequence[tuple[str, str, DataFrame]]") -> "DataFrame":
    """Numbers of curves that ``average`` made: every cost that can be drawn against, mean, range, number of seeds."""
    return data.tidy(shown).drop(columns=["x"], errors="ignore").rename(columns={"y": "mean", "count": "seeds"})


def _so_far(rows: "DataFrame", data: FigureData) -> "DataFrame":
    """Rows of curves in which each run's metric is its best value up to there."""
    rows = rows.sort_values("round", kind="stable")
    runs = rows.groupby(["algorithm", *data.view.axes, "seed"], sort=False)[data.y]
    best = runs.cummin() if scores.goal(data.y, data.view.select) == "min" else runs.cummax()
    return rows.assign(**{data.y: best})


def average(rows: "DataFrame", cost: str, metric: str, costs: "Sequence[str]" = ()) -> "DataFrame":
    """Mean and range over seeds at every evaluation that all seeds reached.

    rows: of curves, of one algorithm at one point. cost, metric: their columns. costs: further columns whose means are
    taken. Returns columns ``x``, ``y``, ``low``, ``high``, ``count`` and the costs, by round.
    """
    ok = rows[np.isfinite(rows[metric])]
    groups = ok.groupby("round", sort=True)
    curve = groups[metric].agg(y="mean", low="min", high="max", count="count")
    for name in costs:
        curve[name] = groups[name].mean() if name != "round" else curve.index
    curve["x"] = groups[cost].mean() if cost != "round" else curve.index
    return curve[curve["count"] == rows["seed"].nunique()]


def line(ax: "Axes", curve: "DataFrame", look: Style, place: tuple[int, int], log: bool, band: bool) -> "Line2D":
    """Draw a curve that ``average`` made; returns the line.

    place: its number among how many curves, so that their markers lie apart. log: of the scale of y. band: whether the
    range is drawn as well.
    """
    x, y, low, high = (curve[name].to_numpy(float) for name in ("x", "y", "low", "high"))
    if log:
        y, low, high = (np.maximum(values, layout.FLOOR) for values in (y, low, high))
    step = max(1, len(x) // 8)
    start = place[0] * step // max(1, place[1])
    shown = (start, step) if step > 1 else 1
    if band:
        layout.spread(ax, look, x, low, high, place, np.arange(start, len(x), step) if step > 1 else slice(None))
    points: dict[str, Any] = {"marker": look.marker, "markevery": shown, "markersize": look.size - 0.7}
    width = 1.7 if len(x) <= 60 else 1.3
    (drawn,) = ax.plot(x, y, color=look.colour, linestyle=look.line, linewidth=width, zorder=look.layer, **points)
    return drawn


def end(ax: "Axes", curve: "DataFrame", look: Style) -> None:
    """A cross where a curve that diverged stops, or leaves the figure."""
    x, y = curve["x"].to_numpy(float), curve["y"].to_numpy(float)
    bottom, top = ax.get_ylim()
    last = int(np.argmax(y > top)) if (y > top).any() else len(y) - 1
    height = min(max(y[last], bottom), top)
    ax.plot(x[last], height, "x", color=look.colour, markersize=8, markeredgewidth=2, zorder=3, clip_on=False)


def limit(axes: "Sequence[Axes]", drawn: "Sequence[DataFrame]", log: bool) -> None:
    """Set limits that hold every curve that did not diverge; those that did may leave the figure.

    drawn: the curves; of one that diverged, its first row. log: of the scale of y.
    """
    if not drawn:
        return
    values = np.concatenate([curve[["low", "high"]].to_numpy(float).ravel() for curve in drawn])
    if log:  # one lucky seed must not squeeze the means together
        lowest = min(curve["y"].min() for curve in drawn)
        values = np.maximum(values, max(layout.FLOOR, lowest / 10))
    if bounds := layout.limits(values, log):
        axes[0].set_ylim(*bounds)
