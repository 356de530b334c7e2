"""The score against an axis, such as the number of workers (Yuan & Ma 2020, Figure 1), or against tried values."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from fedatlas.experiments import labels
from fedatlas.experiments.scores import goal
from fedatlas.experiments.values import parse_cell
from fedatlas.experiments.view import is_numeric, sorted_values
from fedatlas.registry.options import option
from fedatlas.results.figures import Drawing, FigureData, PanelFigure, Scale
from fedatlas.results.figures.description import (
    FLOOR,
    FLOOR_NOTE,
    REFERENCE,
    Line,
    Lines,
    describe_lines,
    limits,
    raise_to_floor,
)

if TYPE_CHECKING:
    from pandas import DataFrame

    from fedatlas.experiments.view import ExperimentView

WIDE = 4  # ratio of the ends of an axis from which on it is logarithmic
LINEAR = "linear speed-up"  # id and name of the line of slope -1
LINEAR_LINE = Line(REFERENCE, "", (4, 3), LINEAR)

# Suboptimality of the runs that the authors of FedAc published for a9a (summary.csv of their repository
# hongliny/FedAc-NeurIPS20), which Figures 1 to 5 draw: one seed, T = 4096, and for each number of workers and
# synchronisation interval the step size with the least loss. The optimum was computed to 15 digits. Their runs of
# FedAc-II, whose beta is not the paper's, are left out.
FEDAC_RUNS, FEDAC_STEPS = Path(__file__).parents[1] / "comparing/published/fedac.csv", 4096


@dataclass(frozen=True, kw_only=True)
class Scaling(PanelFigure):
    """The best score of every algorithm against an axis, or against the tried values of a tuned hyper-parameter.

    Scores of tried values are those on the tuning seeds, the best over the other tuned hyper-parameters.
    """

    name = "scaling"
    aliases = ("sensitivity",)

    x: str = option(doc="axis or tuned hyper-parameter", names="axis or tuned")
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
        x, tried = self.x, self.x not in data.view.axes
        if tried and self.y:
            raise data.error(f"{x} is tuned, so the score on the tuning seeds is drawn; y must not be given")
        rows = _tried(data, x) if tried else data.rows(data.table[data.table["chosen"]])
        column, y = _ordinate(data, tried)
        view = data.view
        if self.published and len(points := fedac_points(view)):
            rows = rows.merge(points, on=["algorithm", "local_steps", "clients"], how="left")
        numeric, cells = is_numeric(rows[x]), sorted_values(rows[x])
        ranged = not tried and column == "score" and data.seeds > 1
        parts: list[tuple[str, str, DataFrame]] = []
        for title, panel in data.panels(rows):  # whose order is that of the rows
            panel = panel.sort_values(x, kind="stable") if numeric else panel
            parts += [(title, id, panel[panel["algorithm"] == id]) for id in data.styles]
            if self.reference == "linear" and len(points := _reference(panel, x, column)):
                parts.append((title, LINEAR, points))
        columns = {x: x, column: "mean"} | ({"score_min": "low", "score_max": "high"} if ranged else {})
        columns |= {name: name for name in ("edge", "published") if name in rows}
        numbers = data.tidy(
            (title, id, line.reindex(columns=list(columns)).rename(columns=columns)) for title, id, line in parts
        )
        shown = [name for name in ("mean", "low", "high", "published") if name in numbers]
        values = numbers.loc[numbers["algorithm"] != LINEAR, shown].to_numpy(float).ravel()
        raised = FLOOR_NOTE if data.log and (values < FLOOR).any() else ""
        seeds = "On the tuning seeds, the best over the other tuned hyper-parameters." if tried else ""
        lines = describe_lines(data.styles, data.names)
        description = Lines(
            x={x: labels.axis(x, data.view.problem)},
            y=("mean", y),
            lines=lines | ({LINEAR: LINEAR_LINE} if self.reference else {}),
            range=("low", "high") if ranged else None,
            categories=[] if numeric else [(str(cell), labels.text(parse_cell(cell))) for cell in cells],
            rings={"published": "published by the authors"} if "published" in numbers else {},
            logx=numeric and cells[0] > 0 and cells[-1] / cells[0] >= WIDE,
            logy=data.log,
            remark="edge" if "edge" in numbers else "",
            hollow="best value at the grid's edge",
            limits=limits(raise_to_floor(values, data.log), data.log),
            note=labels.join_sentences(seeds, data.note(numeric) if ranged else "", raised),
        )
        return Drawing(numbers, description)


def _tried(data: FigureData, x: str) -> "DataFrame":
    """Return the tuning score of each tried value of a hyper-parameter; NaN where all runs of it diverged."""
    rows, select = data.rows(data.table[data.table[x].notna()]), data.view.select
    tunes = rows["tuning_seeds"] > 0  # without a choice, all that there is are the scoring seeds
    scores = rows["tuning_score"].where(tunes, rows["score"])
    diverged = rows["tuning_diverged"].where(tunes, rows["diverged"])
    keys = ["algorithm", *data.view.axes, x]
    groups = rows.assign(score=scores.where(diverged == 0)).groupby(keys, sort=False, dropna=False)["score"]
    return groups.agg(goal(select.tuning_metric, select)).reset_index()


def _ordinate(data: FigureData, tried: bool) -> tuple[str, str]:
    """Return the column that is drawn, with its words. tried: whether it is the score on the tuning seeds."""
    select = data.view.select
    if tried:
        return "score", labels.quantity(select.tuning_metric, select.statistic)
    if data.y in data.view.tune:
        return data.y, f"best {labels.axis(data.y, data.view.problem)}"
    column = "score" if data.y == select.metric else f"{select.statistic}_{data.y}"
    return column, labels.quantity(data.y, select.statistic)


def fedac_points(view: "ExperimentView") -> "DataFrame":
    """Return the published points of FedAc in the settings of an experiment, where these are those of the runs.

    Columns are algorithm (the id), local_steps, clients and published, a suboptimality. Algorithms with
    hyper-parameters of their own have no points.
    """
    import pandas as pd

    problem, select, keys = view.problem, view.select, ["l2", "algorithm", "local_steps"]
    points = pd.read_csv(FEDAC_RUNS).melt(keys, var_name="clients", value_name="published").dropna()
    equal = problem["kind"] == "logistic" and problem.get("data") == "a9a" and not problem.get("partition")
    equal = equal and view.setting.get("steps") == FEDAC_STEPS
    equal = equal and (select.metric, select.statistic) == ("suboptimality", "best")
    points = points.astype({"clients": int})[equal & (points["l2"] == problem.get("l2"))]
    names = {id: entry.algorithm for id, entry in view.algorithms.items() if not entry.set}
    parts = [points[points["algorithm"] == name].assign(algorithm=id) for id, name in names.items()]
    return pd.concat([points.iloc[:0], *parts])[["algorithm", "local_steps", "clients", "published"]]


def _reference(panel: "DataFrame", x: str, column: str) -> "DataFrame":
    """Return the ends of a line of slope -1 through the best algorithm's first point; no row if there is none."""
    import pandas as pd

    positive = panel[np.isfinite(panel[column]) & (panel[column] > 0) & (panel[x] > 0)]
    if positive.empty:
        return positive[[x, column]]
    first, last = positive[x].min(), positive[x].max()
    start = positive.loc[positive[x] == first, column].min()
    return pd.DataFrame({x: [first, last], column: [start, start * first / last]})
