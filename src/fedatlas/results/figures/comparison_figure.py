"""The base class of figures that compare algorithms over problems, each of which is a point of the axes."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from fedatlas.experiments import labels, scores
from fedatlas.experiments.selection import select_rows, sorted_values
from fedatlas.registry.options import option
from fedatlas.results.comparing.benchmark import OPTIMA, Benchmark, target_costs
from fedatlas.results.figures.cost_figure import CostFigure
from fedatlas.results.figures.figure_data import FigureData

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True, kw_only=True)
class ComparisonFigure(CostFigure):
    """A figure of the costs of algorithms until they attain a target, on all points of the axes that ``where`` leaves.

    Targets are of the metric that selects, and lie towards its best value: 0 for suboptimality, distance and
    gradient_norm, F* for a loss if it is known, else the best that any algorithm found on the problem with the same
    seed. They do not depend on which algorithms are drawn.
    """

    every_axis: ClassVar[bool] = True

    x: str = option("rounds", doc="cost that is compared, or simulated_seconds", names="cost or time")

    @property
    def cost_name(self) -> str:
        """The cost in words, without its unit."""
        return self.words.removesuffix(" (s)")

    def benchmark(self, data: FigureData, shares: "list[float]") -> Benchmark:
        """Return the costs of the algorithms of the figure, at targets that all algorithms of the experiment set."""
        data.rows(data.curves)  # raises if no row is left
        rows = select_rows(data.curves, self.where)
        goal, ids = scores.goal(data.y, data.view.select), list(data.view.algorithms)
        benchmark = target_costs(rows, ids, data.view.axes, data.y, goal, shares, self.x)
        return benchmark.select_algorithms(list(data.styles))

    def target_note(self, data: FigureData, shares: "list[float]") -> str:
        """Return the definition of a target, for the foot."""
        parts = [f"{labels.number(100 * share)} %" for share in shares]
        percent = " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))
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
