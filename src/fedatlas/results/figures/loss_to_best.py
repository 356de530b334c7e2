"""Figures that compare algorithms over problems: costs or scores of each against those of the best on each problem."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from fedatlas.experiments import labels, scores
from fedatlas.experiments.cells import CASE
from fedatlas.experiments.view import select_rows, sorted_values
from fedatlas.federation.metrics import metric
from fedatlas.registry.options import option
from fedatlas.results.comparing.benchmark import OPTIMA, Benchmark, score_benchmark, target_costs
from fedatlas.results.comparing.pairwise import Standing, standings
from fedatlas.results.comparing.ranks import rank_algorithms
from fedatlas.results.figures import Drawing, FigureData
from fedatlas.results.figures.cost_figure import CostFigure
from fedatlas.results.figures.description import Cell, TextTable

if TYPE_CHECKING:
    from pandas import DataFrame, Series


@dataclass(frozen=True, kw_only=True)
class ComparisonFigure(CostFigure):
    """A figure of the costs of algorithms until they attain a target, on all points of the axes that ``where`` leaves.

    Targets are of the metric that selects, and lie towards its best value: 0 for suboptimality, distance and
    gradient_norm, F* for a loss if it is known, else the best that any algorithm found on the problem with the same
    seed. They do not depend on which algorithms are drawn.
    """

    every_axis: ClassVar[bool] = True

    x: str = option("rounds", doc="cost that is compared, or simulated_seconds", names="cost or time")

    def benchmark(self, data: FigureData, shares: "list[float]") -> Benchmark:
        """Return the costs of the algorithms of the figure, at targets that all algorithms of the experiment set."""
        data.rows(data.curves)  # raises if no row is left
        rows = select_rows(data.curves, self.where)
        goal, ids = scores.goal(data.y, data.view.select), list(data.view.algorithms)
        benchmark = target_costs(rows, ids, data.view.axes, data.y, goal, shares, self.x)
        return benchmark.select_algorithms(list(data.styles))

    def target_note(self, data: FigureData, shares: "list[float]") -> str:
        """Return the definition of a target, for the foot."""
        percent = labels.join_names(f"{labels.number(100 * share)} %" for share in shares)
        words = labels.words(data.y)
        if data.y in OPTIMA:
            return f"Target: the {words} is {percent} of its first value."
        best = "the best that any run with the seed found"
        if data.y == "loss" and "suboptimality" in data.curves:
            best = f"F*, or where F* is not known to {best},"
        return f"Target: the distance of the {words} to {best} is {percent} of the first one."


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


@dataclass(frozen=True, kw_only=True)
class LossToBest(ComparisonFigure):
    """A table of what each algorithm pays against the best one: a row for each algorithm, a column for each problem.

    A number is a cost, or a score, over that of the best algorithm on the problem, in the mean over paired seeds; of
    scores whose differences are taken, it is the difference. The best attains the target with most seeds, and among
    those costs least. Bold are the best and who is within noise of it, whose Student's t interval of that number lies
    across equality, widened by Bonferroni's correction for the rivals on the problem: the one that is truly the best is
    told to be worse with a probability of at most 5 % (Hsu 1984). Rows are sorted by the area under the performance
    profile.
    """

    name = "loss_to_best"
    is_table = True

    share: float = option(
        0.01, doc="target: share of the difference between the metric's first and best value", above=0, below=1
    )
    scores: bool = option(
        False,
        doc="whether scores are compared, and not what runs spend: by ratio where the metric is shown on a log scale "
        "or is a loss that is never negative, else by difference",
    )

    def draw(self, data: FigureData) -> Drawing:
        benchmark, quantity = self.outcomes(data), self.quantity(data)
        columns = [standings(benchmark, p) for p in range(len(benchmark.problems))]
        order = rank_algorithms(benchmark)
        rows = [
            ((data.names[benchmark.algorithms[a]],), [Cell(_text(column[a]), column[a].near) for column in columns])
            for a in order
        ]
        titles = problem_titles(data, benchmark) if len(columns) > 1 else [quantity]
        note = labels.join_sentences(
            f"{quantity[:1].upper()}{quantity[1:]}, {'as multiples of' if benchmark.log else 'minus'} the best (paired "
            f"mean over {data.counted_seeds}).",
            "" if self.scores else self.target_note(data, [self.share]),
            "Bold: the best, and what is within noise of it. – never; 1/5: with so many of the seeds; empty: not "
            "defined.",
        )
        table = TextTable(heads=[[(title, 1) for title in titles]], blocks=[("", rows)], note=note)
        return Drawing(_numbers(data, benchmark, columns, quantity), table)

    def outcomes(self, data: FigureData) -> Benchmark:
        """Return the numbers that are compared."""
        if not self.scores:
            return self.benchmark(data, [self.share])
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

    def quantity(self, data: FigureData) -> str:
        """Return the quantity that is compared, in words."""
        if not self.scores:
            return self.words.removesuffix(" (s)")
        name = labels.words(data.y)
        if data.y == "loss" and "suboptimality" in data.curves:
            rows = select_rows(data.curves, self.where)
            known = rows.loc[rows["status"] != "diverged", "suboptimality"].notna()
            if known.any():
                name = "suboptimality" if known.all() else "suboptimality (loss where F* is not known)"
        return f"{data.view.select.statistic} {name}"


def _text(standing: Standing) -> str:
    """Return the text of a cell."""
    if math.isfinite(standing.loss):
        return labels.number(standing.loss, 2)
    if standing.attained:
        return f"{standing.attained}/{standing.seeds}"
    return "–" if standing.seeds else ""


def _numbers(data: FigureData, benchmark: Benchmark, columns: list[list[Standing]], quantity: str) -> "DataFrame":
    """Return the standings: a row for each algorithm and problem; where one is not defined, with the reason."""
    import pandas as pd

    rows: list[dict[str, Any]] = []
    for point, column in zip(problem_frame(data, benchmark).to_dict("records"), columns, strict=True):
        for id, standing in zip(benchmark.algorithms, column, strict=True):
            reason = data.view.undefined.get(id, {}).get(point.get(CASE, ""), "")
            rows.append({"algorithm": id, **point, "compared": quantity, "reason": reason, **standing._asdict()})
    return pd.DataFrame(rows)
