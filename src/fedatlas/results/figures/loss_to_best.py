"""Costs of each algorithm against those of the best one on each problem."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fedatlas.experiments import labels
from fedatlas.experiments.cells import CASE
from fedatlas.registry.options import option
from fedatlas.results.comparing.pairwise import Standing, standings
from fedatlas.results.comparing.ranks import rank_algorithms
from fedatlas.results.figures.base import Drawing
from fedatlas.results.figures.comparison_figure import SingleTargetFigure, problem_frame, problem_titles
from fedatlas.results.figures.description import Grid
from fedatlas.results.figures.figure_data import FigureData

if TYPE_CHECKING:
    from pandas import DataFrame

    from fedatlas.results.comparing.benchmark import Benchmark


@dataclass(frozen=True, kw_only=True)
class LossToBest(SingleTargetFigure):
    """A table of what each algorithm pays against the best one: a row for each algorithm, a column for each problem.

    A number is a cost, or a score, over that of the best algorithm on the problem, in the mean over paired seeds; of
    scores whose differences are taken, it is the difference. The best attains the target with most seeds, and among
    those costs least. Who is within noise of the best has Student's t interval of that number across equality, widened
    by what lies between two evaluations and by Bonferroni's correction for the rivals on the problem: the one that is
    truly the best is told to be worse with a probability of at most ``level`` (Hsu 1984). Rows are sorted by the area
    under the performance profile.
    """

    name = "loss_to_best"
    is_table = True

    darkest: float = option(16.0, doc="ratio from which on colours do not deepen", above=1)

    def draw(self, data: FigureData) -> Drawing:
        benchmark = self.outcomes(data)
        columns = [standings(benchmark, p, level=self.level) for p in range(len(benchmark.problems))]
        reach = self._reach(benchmark.log, columns)
        description = Grid(
            rows={benchmark.algorithms[a]: data.names[benchmark.algorithms[a]] for a in rank_algorithms(benchmark)},
            columns=problem_titles(data, benchmark) if len(benchmark.problems) > 1 else [""],
            log=benchmark.log,
            darkest=math.exp(reach) if benchmark.log else reach,
            note=labels.join_sentences(*self._notes(data, benchmark)),
        )
        return Drawing(_numbers(data, benchmark, columns, self.quantity(data)), description)

    def _reach(self, log: bool, columns: "list[list[Standing]]") -> float:
        """Return the loss at which colours are darkest."""
        if log:
            return math.log(self.darkest)
        gaps = [s.gap.value for column in columns for s in column if s.gap is not None and s.state == "worse"]
        return max((gap for gap in gaps if math.isfinite(gap)), default=1.0)

    def _notes(self, data: FigureData, benchmark: "Benchmark") -> list[str]:
        relation, quantity = "as multiples of" if benchmark.log else "minus", self.quantity(data)
        return [
            f"{quantity[:1].upper()}{quantity[1:]}, {relation} the best (paired mean over {data.random_seeds}).",
            "" if self.scores else self.target_note(data, [self.share]),
        ]


def _numbers(data: FigureData, benchmark: "Benchmark", columns: "list[list[Standing]]", quantity: str) -> "DataFrame":
    """Return the standings: a row for each algorithm and problem; where one is not defined, with the reason."""
    import pandas as pd

    frame = problem_frame(data, benchmark)
    rows: list[dict[str, Any]] = []
    for problem, column in enumerate(columns):
        point = frame.iloc[problem].to_dict()
        for id, standing in zip(benchmark.algorithms, column, strict=True):
            low, high = standing.interval
            loss = math.nan if standing.gap is None else standing.gap.value
            reason = data.view.undefined.get(id, {}).get(point.get(CASE, ""), "")
            rows.append(
                {"algorithm": id, **point, "compared": quantity, "state": standing.state, "reason": reason}
                | {"loss": loss, "low": low, "high": high, "attained": standing.attained, "seeds": standing.seeds}
            )
    return pd.DataFrame(rows)
