"""Base classes of figures that compare algorithms over problems, each of which is a point of the axes."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from fedatlas.errors import UserError
from fedatlas.experiments import labels, scores
from fedatlas.experiments.selection import select_rows, sorted_values
from fedatlas.federation.metrics import metric
from fedatlas.registry.options import option
from fedatlas.results.comparing.benchmark import Benchmark
from fedatlas.results.comparing.targets import TargetSpec, score_benchmark, target_costs
from fedatlas.results.figures.cost_figure import CostFigure
from fedatlas.results.figures.figure_data import FigureData

if TYPE_CHECKING:
    from pandas import DataFrame, Series


@dataclass(frozen=True, kw_only=True)
class ComparisonFigure(CostFigure):
    """A figure of the costs of algorithms until they attain a target, on all points of the axes that ``where`` leaves.

    The targets of a problem do not depend on which algorithms are drawn.
    """

    every_axis: ClassVar[bool] = True

    x: str = option("rounds", doc="cost that is compared, or simulated_seconds", names="cost or time")
    y: str | None = option(None, doc="metric of the targets; by default the one that selects", names="metric")
    best: float | None = option(
        None,
        doc="best value of the metric, towards which targets lie; by default 0 for suboptimality, distance and "
        "gradient_norm, F* for a loss if it is known, else the best that any algorithm found on the problem with the "
        "same seed",
    )

    @property
    def cost_name(self) -> str:
        """The cost in words, without its unit."""
        return self.words.removesuffix(" (s)")

    def target_spec(self, data: FigureData, shares: "list[float]") -> TargetSpec:
        """Return the targets of the comparison: metric, cost and shares."""
        goal = scores.goal(data.y, data.view.select)
        return TargetSpec(data.y, goal, self.x, tuple(shares), self.best)

    def benchmark(self, data: FigureData, shares: "list[float]") -> Benchmark:
        """Return the costs of the algorithms of the figure, at targets that all algorithms of the experiment set."""
        spec = self.target_spec(data, shares)
        data.require(data.curves, spec.column, data.y)
        data.rows(data.curves)  # raises if no row is left
        rows = select_rows(data.curves, self.where)
        benchmark = target_costs(rows, list(data.view.algorithms), data.view.axes, spec)
        return benchmark.select_algorithms(list(data.styles))

    def target_note(self, data: FigureData, shares: "list[float]") -> str:
        """Return the definition of a target, for the foot."""
        parts = [f"{labels.number(100 * share)} %" for share in shares]
        percent = " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))
        words, optimum = labels.words(data.y), self.target_spec(data, shares).optimum
        if optimum == 0:
            return f"Target: the {words} is {percent} of its first value."
        best = "the best that any run with the seed found" if optimum is None else labels.number(optimum)
        if optimum is None and data.y == "loss" and "suboptimality" in data.curves:
            best = f"F*, or where F* is not known to {best},"
        return f"Target: the distance of the {words} to {best} is {percent} of the first one."


@dataclass(frozen=True, kw_only=True)
class SingleTargetFigure(ComparisonFigure):
    """A figure of the numbers of all runs on each problem: costs of one target, or scores."""

    share: float = option(
        0.01, doc="target: share of the difference between the metric's first and best value", above=0, below=1
    )
    scores: bool = option(
        False,
        doc="whether scores are compared, and not what runs spend: by ratio where the metric is shown on a log scale "
        "or is a loss that is never negative, else by difference",
    )
    level: float = option(
        0.05,
        doc="probability that what is equal is told apart: two algorithms; or, against the best, the one that is truly "
        "the best on a problem",
        above=0,
        below=1,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.scores and self.best is not None:
            raise UserError(f"{self.title()}: scores have no target, and so no best; leave one of them out")

    def outcomes(self, data: FigureData) -> Benchmark:
        """Return the numbers that are compared."""
        if not self.scores:
            return self.benchmark(data, [self.share])
        data.require(data.curves, data.y)
        data.rows(data.curves)
        goal = scores.goal(data.y, data.view.select)
        keys = ["algorithm", *data.view.axes, "seed"]
        rows = select_rows(data.curves, self.where)
        starts = rows[rows["round"] == 0].groupby(keys, sort=False)[data.y].first()
        ends = self._run_scores(data, rows, keys, goal)
        log = metric(data.y).scale == "log" or (data.y == "loss" and bool((ends >= 0).all()))
        benchmark = score_benchmark(ends, starts, list(data.view.algorithms), data.view.axes, goal, log)
        return benchmark.select_algorithms(list(data.styles))

    def _run_scores(self, data: FigureData, rows: "DataFrame", keys: list[str], goal: str) -> "Series":
        """Return the score of each run; of a loss, its distance to F* where F* is known."""
        select = data.view.select
        if data.y == "loss" and "suboptimality" in rows:
            rows = rows.assign(loss=rows["suboptimality"].clip(lower=0).fillna(rows["loss"]))
        status = rows.groupby(keys, sort=False)["status"].last()
        result = scores.score_frame(rows[rows["round"] > 0], keys, data.y, select.statistic, goal, select.last)
        result = result.reindex(status.index)
        return result.mask((status == "diverged") | result.isna(), scores.worst_score(goal))

    @property
    def confidence(self) -> str:
        """The confidence of an interval, in percent."""
        return f"{labels.number(100 * (1 - self.level))} %"

    def quantity(self, data: FigureData) -> str:
        """Return the quantity that is compared, in words."""
        if not self.scores:
            return self.cost_name
        name = labels.words(data.y)
        if data.y == "loss" and "suboptimality" in data.curves:
            rows = select_rows(data.curves, self.where)
            known = rows.loc[rows["status"] != "diverged", "suboptimality"].notna()
            if known.any():
                name = "suboptimality" if known.all() else "suboptimality (loss where F* is not known)"
        return f"{data.view.select.statistic} {name}"


def problem_frame(data: FigureData, benchmark: Benchmark) -> "DataFrame":
    """Return the problems of a benchmark, a row for each, with a column for each axis."""
    import pandas as pd

    return pd.DataFrame(benchmark.problems, columns=data.view.axes, index=range(len(benchmark.problems)))


def problem_titles(data: FigureData, benchmark: Benchmark) -> list[str]:
    """Return the titles of a benchmark's problems, points of axes: the values of those of which there are several."""
    frame = problem_frame(data, benchmark)
    cells = {axis: sorted_values(frame[axis]) for axis in frame}
    words = {axis: dict(zip(values, data.titles(axis, values), strict=True)) for axis, values in cells.items()}
    varied = [axis for axis in frame if len(words[axis]) > 1]
    return [", ".join(words[axis][row[axis]] for axis in varied) for row in frame.to_dict("records")]
