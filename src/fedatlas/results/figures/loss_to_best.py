"""What each algorithm pays against the best one on each problem."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fedatlas.experiments import labels
from fedatlas.experiments.cells import CASE
from fedatlas.registry.options import option
from fedatlas.results.comparing.pairwise import Standing, standings
from fedatlas.results.comparing.ranking import rank_algorithms
from fedatlas.results.figures.base import Drawing
from fedatlas.results.figures.browser_chart import Grid, plain
from fedatlas.results.figures.coloured_table import Cell, mosaic
from fedatlas.results.figures.comparison_figure import SingleTargetFigure, problems, titles
from fedatlas.results.figures.figure_data import FigureData

if TYPE_CHECKING:
    from matplotlib.colors import Colormap
    from pandas import DataFrame

    from fedatlas.results.comparing.targets import Benchmark

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
        board = self.numbers(data)
        found = [standings(board, at, level=self.level) for at in range(len(board.problems))]
        numbers = _numbers(data, board, found, self.what(data))
        order = rank_algorithms(board)
        shades, reach = _shades(), self._reach(board.log, found)
        cells = [[_cell(column[a], board.log, shades, reach) for column in found] for a in order]
        names = [data.names[board.algorithms[a]] for a in order]
        heads = titles(data, board) if len(board.problems) > 1 else [""]
        chart = Grid(
            rows={board.algorithms[a]: plain(names[at]) for at, a in enumerate(order)},
            columns=list(map(plain, heads)),
            log=board.log,
            darkest=math.exp(reach) if board.log else reach,
            note=" ".join(filter(None, self._notes(data, board, found)[:2])),
        )
        best = ("score" if self.scores else "cost") + " of the best"
        below = [(best, [_best(board, at, one, self._sign(data)) for at, one in enumerate(found)])]
        notes = self._notes(data, board, found)
        figure = mosaic(names, heads, cells, width=0.62, below=below, notes=notes)
        return Drawing(figure, numbers, chart)

    def _sign(self, data: FigureData) -> int:
        """-1 where the board holds scores of which large ones are good."""
        from fedatlas.experiments import scores

        return -1 if self.scores and scores.goal(data.y, data.view.select) == "max" else 1

    def _reach(self, log: bool, found: "list[list[Standing]]") -> float:
        """The loss at which colours are darkest."""
        if log:
            return math.log(self.darkest)
        gaps = [one.gap.value for column in found for one in column if one.gap is not None and one.state == "worse"]
        return max((gap for gap in gaps if math.isfinite(gap)), default=1.0)

    def _notes(self, data: FigureData, board: "Benchmark", found: "list[list[Standing]]") -> list[str]:
        how = "as multiples of" if board.log else "minus"
        every = [one for column in found for one in column]
        signs = {
            f"{NEVER} never attained": any(one.state == "never" for one in every),
            f"{DIVERGED} diverged": any(one.state == "diverged" for one in every),
            f"{PARTLY} not attained with all seeds": any(map(_partly, every)),
            "1/5: attained with so few seeds": any(map(_hardly, every)),
            "hatched: not defined": any(one.state == "undefined" for one in every),
        }
        what, last = self.what(data), "; ".join(text for text, used in signs.items() if used)
        return [
            f"{what[:1].upper()}{what[1:]}, {how} the best (mean over {data.seeds} paired seeds).",
            "" if self.scores else self.told(data, [self.share]),
            f"Dark blue: best; light blue: within noise of it ({self.sure}, corrected for the number of rivals).",
            f"{last[:1].upper()}{last[1:]}." if last else "",
        ]


def _partly(one: Standing) -> bool:
    return 0 < one.attained < one.seeds and not _hardly(one)


def _hardly(one: Standing) -> bool:
    """Whether so few seeds attain the target that the median over seeds is infinite."""
    return one.gap is not None and one.attained < one.seeds and not math.isfinite(one.gap.value)


def _cell(one: Standing, log: bool, shades: "Colormap", reach: float) -> Cell:
    if one.state == "undefined":
        return Cell("", hatched=True)
    if one.state in ("never", "diverged"):
        return Cell(NEVER if one.state == "never" else DIVERGED, LOST, look={"color": "#777777"})
    assert one.gap is not None  # as of all others
    value = one.gap.value
    mark = PARTLY if _partly(one) else ""
    text = labels.number(value, 2) + mark if math.isfinite(value) else f"{one.attained}/{one.seeds}"
    if one.state != "worse":
        return Cell(
            text, BEST if one.state == "best" else NEAR, look={"fontweight": "bold"} if one.state == "best" else {}
        )
    depth = min(1.0, (math.log(value) if log else value) / reach) if math.isfinite(value) else 1.0
    return Cell(text, shades(depth), look={"color": "white"} if depth > 0.72 else {})


def _best(board: "Benchmark", at: int, column: "list[Standing]", sign: int) -> str:
    """The mean number of the best algorithm on a problem."""
    from fedatlas.results.comparing.intervals import sample

    for a, one in enumerate(column):
        if one.state == "best":
            value = sample(board.by_seed(a, at).values(), board.log).value
            return labels.number(sign * value, 2) if math.isfinite(value) else f"{one.attained}/{one.seeds}"
    return NEVER


def _shades() -> "Colormap":
    import seaborn as sns

    return sns.blend_palette(["#fff3e0", "#fdc98a", "#f4a259", "#c2571a", "#7f2704"], as_cmap=True)


def _numbers(data: FigureData, board: "Benchmark", found: "list[list[Standing]]", what: str) -> "DataFrame":
    """Tidy standings: a row for each algorithm and problem; where one is not defined, with the reason."""
    import pandas as pd

    frame = problems(data, board)
    rows: list[dict[str, Any]] = []
    for at, column in enumerate(found):
        for a, one in enumerate(column):
            low, high = one.interval
            value = math.nan if one.gap is None else one.gap.value
            point = frame.iloc[at].to_dict()
            why = data.view.undefined.get(board.algorithms[a], {}).get(point.get(CASE, ""), "")
            rows.append(
                {"algorithm": board.algorithms[a], **point, "compared": what, "state": one.state, "reason": why}
                | {"loss": value, "low": low, "high": high, "attained": one.attained, "seeds": one.seeds}
            )
    return pd.DataFrame(rows)
