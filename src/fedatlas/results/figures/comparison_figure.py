"""What figures share that compare algorithms over problems, each of which is a point of the axes."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from fedatlas.errors import UserError
from fedatlas.experiments import labels, scores
from fedatlas.experiments.selection import select_rows, sorted_values
from fedatlas.federation.metrics import metric
from fedatlas.registry.options import option
from fedatlas.results.comparing import targets
from fedatlas.results.comparing.targets import Benchmark, TargetSpec
from fedatlas.results.figures import layout
from fedatlas.results.figures.cost_figure import CostFigure
from fedatlas.results.figures.figure_data import FigureData

if TYPE_CHECKING:
    from pandas import DataFrame, Series


@dataclass(frozen=True, kw_only=True)
class ComparisonFigure(CostFigure):
    """A figure of what algorithms spend until they attain a target, on every point of the axes that ``where`` leaves.

    The targets of a problem do not depend on which algorithms are drawn.
    """

    every_axis: ClassVar[bool] = True

    x: str = option("rounds", doc="cost that is compared, or simulated_seconds", names="cost or time")
    y: str | None = option(None, doc="metric of the targets; by default the one that selects", names="metric")
    best: float | None = option(
        None,
        doc="best value of the metric, towards which targets lie; by default 0 for suboptimality, distance and "
        "gradient_norm, F* for a loss if it is known, else the best that any algorithm found on the problem with any "
        "seed",
    )

    @property
    def counted(self) -> str:
        """The cost in words, without its unit."""
        return self.words.removesuffix(" (s)")

    def asked(self, data: FigureData, shares: "list[float]", budget: float = 1) -> TargetSpec:
        """What is asked of the runs."""
        goal = scores.goal(data.y, data.view.select)
        return TargetSpec(data.y, goal, self.x, tuple(shares), self.best, budget)

    def board(self, data: FigureData, shares: "list[float]", budget: float = 1) -> Benchmark:
        """Costs of the algorithms that are drawn, at targets that all algorithms of the experiment set."""
        asked = self.asked(data, shares, budget)
        data.column(data.curves, asked.column, data.y)
        data.rows(data.curves)  # raises if nothing is left
        rows = select_rows(data.curves, self.where)
        every = targets.target_costs(rows, list(data.view.algorithms), data.view.axes, asked)
        return every.select_algorithms(list(data.styles))

    def told(self, data: FigureData, shares: "list[float]") -> str:
        """What a target is, for the foot."""
        parts = [f"{labels.number(100 * share)} %" for share in shares]
        percent = " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))
        words, known = labels.words(data.y), self.asked(data, shares).known
        if known == 0:
            return f"Target: the {words} is {percent} of its first value."
        best = "the best that any run found" if known is None else labels.number(known)
        if known is None and data.y == "loss" and "suboptimality" in data.curves:
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
        doc="whether scores are compared, and not what runs spend: by ratio where the metric is shown on a log scale, "
        "else by difference",
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

    def numbers(self, data: FigureData) -> Benchmark:
        """The numbers that are compared."""
        if not self.scores:
            return self.board(data, [self.share])
        data.column(data.curves, data.y)
        data.rows(data.curves)
        goal, log = scores.goal(data.y, data.view.select), metric(data.y).scale == "log"
        made = targets.score_benchmark(self._scores(data), list(data.view.algorithms), data.view.axes, goal, log)
        return made.select_algorithms(list(data.styles))

    def _scores(self, data: FigureData) -> "Series":
        """The score of each run."""
        select = data.view.select
        goal, of_runs = scores.goal(data.y, select), ["algorithm", *data.view.axes, "seed"]
        rows = select_rows(data.curves, self.where)
        status = rows.groupby(of_runs, sort=False)["status"].last()
        each = scores.score_frame(rows[rows["round"] > 0], of_runs, data.y, select.statistic, goal, select.last)
        each = each.reindex(status.index)
        return each.mask((status == "diverged") | each.isna(), scores.worst_score(goal))

    @property
    def sure(self) -> str:
        """How sure an interval is, in percent."""
        return f"{labels.number(100 * (1 - self.level))} %"

    def what(self, data: FigureData) -> str:
        """What is compared, in words."""
        if self.scores:
            return " ".join((data.view.select.statistic, labels.words(data.y)))
        return self.counted


def problems(data: FigureData, board: Benchmark) -> "DataFrame":
    """The problems of a board, a row for each, with a column for each axis."""
    import pandas as pd

    return pd.DataFrame(board.problems, columns=data.view.axes, index=range(len(board.problems)))


def titles(data: FigureData, board: Benchmark) -> list[str]:
    """The problems of a board for people: the axes of which there are several values."""
    frame = problems(data, board)
    cells = {axis: sorted_values(frame[axis]) for axis in frame}
    words = {axis: dict(zip(found, layout.heads(data, axis, found), strict=True)) for axis, found in cells.items()}
    varied = [axis for axis in frame if len(words[axis]) > 1]
    return [", ".join(words[axis][row[axis]] for axis in varied) for row in frame.to_dict("records")]
