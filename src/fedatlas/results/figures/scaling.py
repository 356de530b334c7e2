"""The chosen score against an axis, for example the number of workers (Yuan & Ma 2020, Figures 1 and 3)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fedatlas.experiments import labels
from fedatlas.experiments.axis_values import parse
from fedatlas.experiments.selection import is_numeric
from fedatlas.registry.options import option
from fedatlas.results.figures import layout
from fedatlas.results.figures.base import Drawing, PanelFigure, Scale
from fedatlas.results.figures.browser_chart import Chart, Line, categories, lines, plain
from fedatlas.results.figures.figure_data import FigureData
from fedatlas.results.figures.style import Style

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from pandas import DataFrame

    from fedatlas.experiments.cells import Run

SLOPE, REFERENCE, LINEAR = (0, (4, 3)), "#777777", "linear speed-up"  # the line of slope -1
LINEAR_LINE = Line(LINEAR, REFERENCE, "", (4, 3))


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
        data.column(data.table, x, column)
        rows = data.rows(data.table[data.table["chosen"]])
        panels = data.panels(rows)
        figure, axes = layout.grid(len(panels))
        positions = layout.positions(rows[x])
        shifts = np.linspace(-0.25, 0.25, len(data.styles)) if len(data.styles) > 1 else [0]  # where x is not a number
        shown: list[tuple[str, str, DataFrame]] = []
        for ax, (title, part) in zip(axes, panels, strict=True):
            ax.set_title(title)
            if data.log:
                ax.set_yscale("log")
            for shift, (id, look) in zip(shifts, data.styles.items(), strict=True):
                own = part[part["algorithm"] == id]
                shown.append((title, id, own))
                _line(ax, data, x, own, column, positions, look, shift)
                if id in self.theorems:
                    promised = own.assign(at=own[x].map(positions)).sort_values("at")
                    ax.plot(promised["at"], promised["bound"], color=look.colour, linestyle=layout.DOTS, linewidth=1.4)
            if self.reference == "linear" and len(ends := _reference(part, x, column)):
                ax.plot(ends[x], ends[column], color=REFERENCE, linestyle=SLOPE, linewidth=1.1, zorder=1.5)
                shown.append((title, LINEAR, ends))
        _scale(axes, positions, rows, x)
        finite = rows[[c for c in (column, *_range(data, column), "bound") if c in rows]].to_numpy(float)
        if bounds := layout.limits(layout.raised(data, finite), data.log):
            axes[0].set_ylim(*bounds)
        layout.label(axes, labels.axis(x, data.view.problem), _words(data))
        layout.legend(figure, data, self._legend(data, rows, column))
        layout.foot(figure, data.note(is_numeric(rows[x])) if _range(data, column) else "")
        numbers = self._tidy(data, shown, column)
        at = [value for value in positions.values() if is_numeric(rows[x])]
        chart = Chart(
            x={x: plain(labels.axis(x, data.view.problem))},
            y=("mean", plain(_words(data))),
            lines=lines(data.styles, data.names) | ({LINEAR: LINEAR_LINE} if self.reference else {}),
            range=("low", "high") if _range(data, column) else None,
            categories=[] if is_numeric(rows[x]) else categories(positions),
            dotted={"bound": "promised by the theorem"} if "bound" in numbers else {},
            logx=bool(at) and min(at) > 0 and max(at) / min(at) >= 4,
            logy=data.log,
            remark="edge" if "edge" in numbers else "",
            limits=axes[0].get_ylim(),
            note=data.note(is_numeric(rows[x])) if _range(data, column) else "",
        )
        return Drawing(figure, numbers, chart)

    def _tidy(self, data: FigureData, shown: "Sequence[tuple[str, str, DataFrame]]", column: str) -> "DataFrame":
        """AlgorithmFigure scores with their ranges, bounds of theorems, and where the chosen value lies on its axis.

        shown: (title of the panel, id, rows) of each line.
        """
        names = {self.x: self.x, column: "mean", **dict(zip(_range(data, column), ("low", "high"), strict=False))}
        names |= {name: name for name in ("bound", "edge") if name in data.table}
        return data.tidy(
            (title, id, own.reindex(columns=list(names)).rename(columns=names)) for title, id, own in shown
        )

    def _legend(self, data: FigureData, rows: "DataFrame", column: str) -> "list[Artist]":
        """Legend handles of lines that do not belong to an algorithm."""
        from matplotlib.lines import Line2D

        found: list[Artist] = []
        if self.reference == "linear":
            found.append(Line2D([], [], color=REFERENCE, linestyle=SLOPE, linewidth=1.1, label=LINEAR))
        for id, name in self.theorems.items():
            found.append(Line2D([], [], color=data.styles[id].colour, linestyle=layout.DOTS, linewidth=1.4))
            found[-1].set_label(f"Theorem {name}")
        edges = rows.loc[rows["edge"] != "", "edge"]
        if len(edges):
            what = "step size" if edges.str.split("; ").explode().str.startswith("lr ").all() else "tuned value"
            found.append(layout.mark(f"best {what} at the grid's edge", marker="o", markerfacecolor="white"))
        if not np.isfinite(rows[column]).all():
            found.append(layout.mark("diverged", marker="x"))
        return found


def _column(data: FigureData) -> str:
    """Column of the table that is drawn."""
    select = data.view.select
    if data.y in data.view.tune:
        return data.y
    return "score" if data.y == select.metric else f"{select.statistic}_{data.y}"


def _words(data: FigureData) -> str:
    if data.y in data.view.tune:
        return f"best {labels.axis(data.y, data.view.problem)}"
    return labels.quantity(data.y, data.view.select.statistic)


def _range(data: FigureData, column: str) -> tuple[str, ...]:
    """Columns of the smallest and the largest value over seeds, where there are several."""
    return ("score_min", "score_max") if column == "score" and data.seeds > 1 else ()


def _line(
    ax: "Axes",
    data: FigureData,
    axis: str,
    part: "DataFrame",
    column: str,
    positions: Mapping[Any, float],
    look: Style,
    shift: float,
) -> None:
    x = part[axis]
    part = part.assign(at=x.map(positions) + (0 if is_numeric(x) else shift)).sort_values("at")
    ok = part[np.isfinite(part[column])]
    at, y = ok["at"].to_numpy(float), layout.raised(data, ok[column])
    ends = [layout.raised(data, ok[name]) for name in _range(data, column)]
    if is_numeric(x):
        ax.plot(at, y, color=look.colour, linestyle=look.line, zorder=look.layer)
        if ends:
            layout.spread(ax, look, at, ends[0], ends[1], data.place(look))
    elif ends:
        ax.vlines(at, *ends, color=look.colour, linewidth=1.4)
    inner = (ok["edge"] == "").to_numpy()
    for chosen, face in ((inner, look.colour), (~inner, "white")):
        points: dict[str, Any] = {
            "marker": look.marker,
            "color": look.colour,
            "markerfacecolor": face,
            "markersize": look.size,
        }
        ax.plot(at[chosen], y[chosen], linestyle="none", zorder=look.layer + 0.1, **points)
    lost = part.loc[~np.isfinite(part[column]), "at"].to_numpy()
    if len(lost):
        ax.plot(lost, np.full(len(lost), 0.97), "x", color=look.colour, transform=ax.get_xaxis_transform(), zorder=3)


def _reference(part: "DataFrame", x: str, column: str) -> "DataFrame":
    """Ends of a line of slope -1 through the best algorithm's first point; nothing if there is no such point."""
    import pandas as pd

    ok = part[np.isfinite(part[column]) & (part[column] > 0) & (part[x] > 0)]
    if ok.empty:
        return ok[[x, column]]
    first, last = ok[x].min(), ok[x].max()
    start = ok.loc[ok[x] == first, column].min()
    return pd.DataFrame({x: [first, last], column: [start, start * first / last]})


def _scale(axes: "Sequence[Axes]", positions: Mapping[Any, float], rows: "DataFrame", x: str) -> None:
    """Scale and ticks of the x-axis: powers of two as such, other numbers by their spread, words one by one."""
    from matplotlib.ticker import FixedLocator, NullLocator

    at = list(positions.values())
    log = is_numeric(rows[x]) and min(at) > 0 and max(at) / min(at) >= 4
    powers = log and all(float(value).is_integer() and int(value) & (int(value) - 1) == 0 for value in at)
    _, columns = layout.shape(axes)
    step = max(1, -(-len(at) // (12 // columns + 3))) if is_numeric(rows[x]) else 1
    shown = dict(list(positions.items())[::step])
    if powers and max(at) >= 1024:
        texts = [f"$2^{{{int(np.log2(value))}}}$" for value in shown]
    else:
        texts = [labels.text(parse(cell)) for cell in shown]
    for ax in axes:
        if log:
            ax.set_xscale("log", base=2)
        elif not is_numeric(rows[x]):
            ax.set_xlim(-0.5, len(at) - 0.5)
        ax.xaxis.set_major_locator(FixedLocator(list(shown.values())))
        ax.xaxis.set_minor_locator(NullLocator())
        ax.set_xticks(list(shown.values()), texts)
