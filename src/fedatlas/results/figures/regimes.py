"""Sentences on each problem's best algorithms, and on those within noise of them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fedatlas.registry.options import option
from fedatlas.results.comparing.pairwise import standings
from fedatlas.results.comparing.summaries import summarize_problem, summarize_problems
from fedatlas.results.figures import layout
from fedatlas.results.figures.base import Drawing
from fedatlas.results.figures.browser_chart import SentenceChart, plain_text
from fedatlas.results.figures.comparison_figure import SingleTargetFigure, problem_frame, problem_titles
from fedatlas.results.figures.figure_data import FigureData
from fedatlas.results.figures.text_fitting import wrap_text

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
        benchmark = self.outcomes(data)
        names = [data.names[id] for id in benchmark.algorithms]
        results = [
            dict(zip(names, standings(benchmark, problem, level=self.level), strict=True))
            for problem in range(len(benchmark.problems))
        ]
        cost, quantity = None if self.scores else self.x, self.quantity(data)
        sentences = [
            _as_sentence(summarize_problem(result, quantity, cost, benchmark.log, self.named)) for result in results
        ]
        titles = problem_titles(data, benchmark)
        rows = list(zip(titles, sentences, strict=True))
        if len(results) > 1:
            rows.append(("all problems", _as_sentence(summarize_problems(results))))
        notes = [
            "" if self.scores else self.target_note(data, [self.share]),
            f"Brackets: {self.confidence} intervals over paired seeds, corrected for the number of rivals"
            + ("." if self.scores else ", and for what lies between two evaluations."),
        ]
        chart = SentenceChart(list(map(plain_text, titles)), " ".join(filter(None, notes)))
        return Drawing(_text_figure(rows, notes), problem_frame(data, benchmark).assign(sentence=sentences), chart)


def _as_sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _text_figure(rows: "list[tuple[str, str]]", notes: "list[str]") -> "Figure":
    """Return a figure of two columns of text."""
    titles = [wrap_text(title, TITLE, SIZE, weight="bold") for title, _ in rows]
    left = 0.02 if not any(map(any, titles)) else TITLE + 0.2
    texts = [wrap_text(text, WIDTH - left - 0.3, SIZE) for _, text in rows]
    heights = [LINE * max(len(title), len(text)) + GAP for title, text in zip(titles, texts, strict=True)]
    note = layout.wrap_notes(WIDTH, *notes)
    figure = layout.empty_figure((WIDTH, sum(heights) + 0.16 * len(note.splitlines()) + 0.3), fixed=True)
    ax = figure.subplots()
    ax.set_axis_off()
    ax.set(xlim=(0, WIDTH - 0.12), ylim=(sum(heights), 0))
    y = 0.0
    for title, text, height in zip(titles, texts, heights, strict=True):
        ax.axhline(y, color="#dddddd", linewidth=0.7)
        ax.text(0.02, y + GAP / 2, "\n".join(title), va="top", fontsize=SIZE, fontweight="bold", linespacing=1.25)
        ax.text(left, y + GAP / 2, "\n".join(text), va="top", fontsize=SIZE, linespacing=1.25)
        y += height
    layout.exclude_texts(ax)
    layout.add_notes(figure, note)
    return figure
