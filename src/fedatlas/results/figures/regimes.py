"""Which algorithms are within noise of the best on which problem, in plain words."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fedatlas.registry.options import option
from fedatlas.results.comparing.pairwise import standings
from fedatlas.results.comparing.summaries import summarize_problem, summarize_problems
from fedatlas.results.figures import layout
from fedatlas.results.figures.base import Drawing
from fedatlas.results.figures.browser_chart import Sentences, plain
from fedatlas.results.figures.comparison_figure import SingleTargetFigure, problems, titles
from fedatlas.results.figures.figure_data import FigureData
from fedatlas.results.figures.text_fitting import lines

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH, LINE, GAP = 10.5, 0.185, 0.11  # inches of the figure, of a line, between rows
TITLE, SIZE = 1.9, 9.0  # inches of titles, points of letters


@dataclass(frozen=True, kw_only=True)
class Regimes(SingleTargetFigure):
    """A sentence for each problem: who is within noise of the best, and what the others need; generated from numbers.

    A number is a cost, or a score, over that of the best algorithm. Its interval is Student's t over paired seeds, with
    Bonferroni's correction for the rivals on the problem, and allows for what lies between two evaluations. An
    algorithm is said to need more only if its interval excludes equality; the one that is truly the best is so with a
    probability of at most ``level`` (Hsu 1984). The best attains the target with most seeds, and among those costs
    least.
    """

    name = "regimes"

    named: int = option(
        3, doc="how many algorithms that are worse a sentence gives numbers of, the nearest first", low=1
    )

    def draw(self, data: FigureData) -> Drawing:
        board = self.numbers(data)
        names = [data.names[id] for id in board.algorithms]
        found = [
            dict(zip(names, standings(board, at, level=self.level), strict=True)) for at in range(len(board.problems))
        ]
        cost = None if self.scores else self.x
        sentences = [_whole(summarize_problem(one, self.what(data), cost, board.log, self.named)) for one in found]
        rows = list(zip(titles(data, board), sentences, strict=True))
        if len(found) > 1:
            rows.append(("all problems", _whole(summarize_problems(found))))
        frame = problems(data, board)
        frame.insert(len(frame.columns), "sentence", sentences)
        numbers = frame
        notes = [
            "" if self.scores else self.told(data, [self.share]),
            f"Brackets: {self.sure} intervals over paired seeds, corrected for the number of rivals"
            + ("." if self.scores else ", and for what lies between two evaluations."),
        ]
        chart = Sentences(list(map(plain, titles(data, board))), " ".join(filter(None, notes)))
        return Drawing(_text(rows, notes), numbers, chart)


def _whole(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _text(rows: "list[tuple[str, str]]", notes: "list[str]") -> "Figure":
    """A figure of two columns of text."""
    titles = [lines(title, TITLE, SIZE, weight="bold") for title, _ in rows]
    left = 0.02 if not any(map(any, titles)) else TITLE + 0.2
    wrapped = [(title, lines(text, WIDTH - left - 0.3, SIZE)) for title, (_, text) in zip(titles, rows, strict=True)]
    heights = [LINE * max(len(title), len(text)) + GAP for title, text in wrapped]
    foot = layout.wrapped(WIDTH, *notes)
    figure = layout.blank((WIDTH, sum(heights) + 0.16 * len(foot.splitlines()) + 0.3), fixed=True)
    ax = figure.subplots()
    ax.set_axis_off()
    ax.set(xlim=(0, WIDTH - 0.12), ylim=(sum(heights), 0))
    at = 0.0
    for (title, text), height in zip(wrapped, heights, strict=True):
        ax.axhline(at, color="#dddddd", linewidth=0.7)
        ax.text(0.02, at + GAP / 2, "\n".join(title), va="top", fontsize=SIZE, fontweight="bold", linespacing=1.25)
        ax.text(left, at + GAP / 2, "\n".join(text), va="top", fontsize=SIZE, linespacing=1.25)
        at += height
    layout.inside(ax)
    layout.foot(figure, foot)
    return figure
