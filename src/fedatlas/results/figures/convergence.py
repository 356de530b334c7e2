"""A metric against a cost: communication rounds, gradients, vectors sent, seconds."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fedatlas.errors import UserError
from fedatlas.experiments import labels
from fedatlas.registry.options import option
from fedatlas.results.figures import Drawing, FigureData, PanelFigure, Scale
from fedatlas.results.figures.cost_figure import CostFigure
from fedatlas.results.figures.description import DIVERGED, FLOOR, FLOOR_NOTE, Lines, describe_lines, limits

if TYPE_CHECKING:
    from pandas import DataFrame

DEVIATIONS = {"between": "± deviation across clients", "within": "± deviation within a client"}  # columns of a value


@dataclass(frozen=True, kw_only=True)
class Convergence(PanelFigure, CostFigure):
    """A metric of the chosen runs against a cost, mean and range over seeds."""

    name = "convergence"

    y: str | None = option(None, doc="metric; by default the one that selects", names="metric")
    yscale: Scale | None = option(None, doc="scale of the y-axis; by default the metric's")
    xscale: Scale = option("linear", doc="scale of the x-axis")
    deviations: bool = option(
        False,
        doc="whether bands are the standard deviations across clients and within a client of a value that local steps "
        "record, whose mean is y, and not the range over seeds",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.deviations and not (self.y or "").endswith("_mean"):
            raise UserError(f"{self.title()}: deviations are those of a recorded value: y must be its mean, VALUE_mean")

    def draw(self, data: FigureData) -> Drawing:
        value = data.y.removesuffix("_mean")
        deviations = {f"{value}_{name}": name for name in DEVIATIONS} if self.deviations else {}
        rows = data.rows(data.curves)
        parts, limiting, costs = [], [], self.abscissas(rows)
        for title, panel in data.panels(rows):
            for id in data.styles:
                runs = panel[panel["algorithm"] == id]
                curve = mean_curve(runs, data.y, [*costs, *deviations])
                if not len(curve):
                    continue
                diverged = bool((runs["status"] == "diverged").any())
                limiting.append(curve[:1] if diverged else curve)
                last = diverged & (np.arange(len(curve)) == len(curve) - 1)
                parts.append((title, id, curve.assign(remark=np.where(last, DIVERGED, ""))))
        numbers, bands = data.tidy(parts), {}
        for column, name in deviations.items():
            ends = (f"{name}_low", f"{name}_high")
            for end, sign in zip(ends, (-1, 1), strict=True):
                numbers[end] = numbers["mean"] + sign * numbers[column]
            bands[DEVIATIONS[name]] = ends
        raised = data.log and bool(parts) and bool((numbers["low"] < FLOOR).any())
        description = Lines(
            x=costs,
            y=("mean", labels.quantity(data.y)),
            lines=describe_lines(data.styles, data.names),
            range=("low", "high") if data.seeds > 1 and not bands else None,
            bands=bands,
            logx=self.xscale == "log",
            logy=data.log,
            remark="remark",
            limits=None if bands else curve_limits(limiting, data.log),
            note=labels.join_sentences(
                "Of the last round before each evaluation." if bands else data.note(), FLOOR_NOTE if raised else ""
            ),
        )
        return Drawing(numbers, description)


def mean_curve(rows: "DataFrame", metric: str, columns: "Sequence[str]" = ()) -> "DataFrame":
    """Return mean and range over seeds at all evaluations that all seeds reached.

    Args:
        rows: Rows of curves, of one algorithm at one point.
        metric: Column of the ordinate.
        columns: Further columns, such as costs, of which means are taken.

    Returns:
        Columns ``mean``, ``low``, ``high`` and ``seeds`` of the metric, and the further columns, in order of rounds.
    """
    finite = rows[np.isfinite(rows[metric])]
    groups = finite.groupby("round", sort=True)
    curve = groups[metric].agg(mean="mean", low="min", high="max", seeds="count")
    for name in columns:
        curve[name] = groups[name].mean() if name != "round" else curve.index
    return curve[curve["seeds"] == rows["seed"].nunique()].reset_index(drop=True)


def curve_limits(curves: "Sequence[DataFrame]", log: bool) -> tuple[float, float] | None:
    """Return limits that hold all curves that did not diverge; those that did may leave the figure.

    Args:
        curves: Results of `mean_curve`; of one that diverged, its first row.
        log: Whether the scale of y is logarithmic.
    """
    if not curves:
        return None
    values = np.concatenate([curve[["low", "high"]].to_numpy(float).ravel() for curve in curves])
    if log:  # one lucky seed must not squeeze the means together
        lowest = min(curve["mean"].min() for curve in curves)
        values = np.maximum(values, max(FLOOR, lowest / 10))
    return limits(values, log)
