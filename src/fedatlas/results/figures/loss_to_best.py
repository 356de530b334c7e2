"""Costs of each algorithm against those of the best one on each problem."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fedatlas.experiments import labels
from fedatlas.experiments.cells import CASE
from fedatlas.registry.options import option
from fedatlas.results.comparing.pairwise import Standing, standings
from fedatlas.results.comparing.ranks import rank_algorithms
from fedatlas.results.figures import table_picture
from fedatlas.results.figures.base import Drawing
from fedatlas.results.figures.browser_chart import GridChart
from fedatlas.results.figures.comparison_figure import SingleTargetFigure, problem_frame, problem_titles
from fedatlas.results.figures.figure_data import FigureData
from fedatlas.results.figures.style import LOSSES
from fedatlas.results.figures.text_table import INK, Cell, TextTable

if TYPE_CHECKING:
    from matplotlib.colors import Colormap
    from pandas import DataFrame

    from fedatlas.results.comparing.benchmark import Benchmark

BEST, NEAR = "#9ecae1", "#dcebf5"
LOST = "#e2e2e2"  # no number, because the target is not attained
NEVER, DIVERGED, PARTLY = "–", "×", "*"


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

    darkest: float = option(16.0, doc="ratio from which on colours do not deepen", above=1)

    def draw(self, data: FigureData) -> Drawing:
        import seaborn as sns

        benchmark = self.outcomes(data)
        columns = [standings(benchmark, p, level=self.level) for p in range(len(benchmark.problems))]
        order = rank_algorithms(benchmark)
        colours, reach = sns.blend_palette(LOSSES, as_cmap=True), self._reach(benchmark.log, columns)
        cells = [[_cell(column[a], benchmark.log, colours, reach) for column in columns] for a in order]
        names = [data.names[benchmark.algorithms[a]] for a in order]
        titles = problem_titles(data, benchmark) if len(benchmark.problems) > 1 else [""]
        notes = self._notes(data, benchmark, columns)
        chart = GridChart(
            rows={benchmark.algorithms[a]: labels.plain_text(name) for a, name in zip(order, names, strict=True)},
            columns=list(map(labels.plain_text, titles)),
            log=benchmark.log,
            darkest=math.exp(reach) if benchmark.log else reach,
            note=" ".join(filter(None, notes[:2])),
        )
        sign = self._sign(data)
        best = [_best(benchmark, p, column, sign) for p, column in enumerate(columns)]
        footer = [(("score" if self.scores else "cost") + " of the best", best)]
        table = TextTable(
            heads=[[(title, 1) for title in titles]],
            blocks=[("", list(zip(zip(names), cells, strict=True)))],
            footer=footer,
            notes=notes,
            slanted=True,
            size=8,
        )
        return Drawing(table_picture.draw(table), _numbers(data, benchmark, columns, self.quantity(data)), chart)

    def _sign(self, data: FigureData) -> int:
        """Return -1 where the benchmark holds scores of which large ones are good."""
        from fedatlas.experiments import scores

        return -1 if self.scores and scores.goal(data.y, data.view.select) == "max" else 1

    def _reach(self, log: bool, columns: "list[list[Standing]]") -> float:
        """Return the loss at which colours are darkest."""
        if log:
            return math.log(self.darkest)
        gaps = [s.gap.value for column in columns for s in column if s.gap is not None and s.state == "worse"]
        return max((gap for gap in gaps if math.isfinite(gap)), default=1.0)

    def _notes(self, data: FigureData, benchmark: "Benchmark", columns: "list[list[Standing]]") -> list[str]:
        relation = "as multiples of" if benchmark.log else "minus"
        everywhere = [standing for column in columns for standing in column]
        signs = {
            f"{NEVER} never attained": any(standing.state == "never" for standing in everywhere),
            f"{DIVERGED} diverged": any(standing.state == "diverged" for standing in everywhere),
            f"{PARTLY} not attained with all seeds": any(map(_mostly_attained, everywhere)),
            "1/5: attained with so few seeds": any(map(_rarely_attained, everywhere)),
            "hatched: not defined": any(standing.state == "undefined" for standing in everywhere),
        }
        quantity, last = self.quantity(data), "; ".join(text for text, used in signs.items() if used)
        return [
            f"{quantity[:1].upper()}{quantity[1:]}, {relation} the best (paired mean over {data.random_seeds}).",
            "" if self.scores else self.target_note(data, [self.share]),
            f"Dark blue: best; light blue: within noise of it ({self.confidence}, corrected for the number of rivals).",
            f"{last[:1].upper()}{last[1:]}." if last else "",
        ]


def _mostly_attained(standing: Standing) -> bool:
    return 0 < standing.attained < standing.seeds and not _rarely_attained(standing)


def _rarely_attained(standing: Standing) -> bool:
    """Return whether so few seeds attain the target that the median over seeds is infinite."""
    gap = standing.gap
    return gap is not None and standing.attained < standing.seeds and not math.isfinite(gap.value)


def _cell(standing: Standing, log: bool, colours: "Colormap", reach: float) -> Cell:
    if standing.state == "undefined":
        return Cell(hatched=True)
    if standing.state in ("never", "diverged"):
        return Cell(NEVER if standing.state == "never" else DIVERGED, ground=LOST, colour="#777777")
    assert standing.gap is not None  # as of all other states
    value = standing.gap.value
    mark = PARTLY if _mostly_attained(standing) else ""
    text = labels.number(value, 2) + mark if math.isfinite(value) else f"{standing.attained}/{standing.seeds}"
    if standing.state == "best":
        return Cell(text, bold=True, ground=BEST)
    if standing.state != "worse":
        return Cell(text, ground=NEAR)
    depth = min(1.0, (math.log(value) if log else value) / reach) if math.isfinite(value) else 1.0
    return Cell(text, ground=colours(depth), colour="white" if depth > 0.72 else INK)


def _best(benchmark: "Benchmark", problem: int, column: "list[Standing]", sign: int) -> str:
    """Return the mean number of the best algorithm on a problem."""
    from fedatlas.results.comparing.intervals import sample

    for a, standing in enumerate(column):
        if standing.state == "best":
            value = sample(benchmark.by_seed(a, problem).values(), benchmark.log).value
            seeds = f"{standing.attained}/{standing.seeds}"
            return labels.number(sign * value, 2) if math.isfinite(value) else seeds
    return NEVER


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
