"""Each problem's best algorithms, and those within noise of them: intervals, and a sentence in words."""

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fedatlas.experiments import labels
from fedatlas.registry.options import option
from fedatlas.results.comparing.pairwise import Standing, standings
from fedatlas.results.comparing.summaries import summarize_problem, summarize_problems
from fedatlas.results.figures import layout
from fedatlas.results.figures.base import Drawing
from fedatlas.results.figures.browser_chart import SentenceChart, plain_text
from fedatlas.results.figures.comparison_figure import SingleTargetFigure, problem_frame, problem_titles
from fedatlas.results.figures.figure_data import FigureData
from fedatlas.results.figures.style import REFERENCE
from fedatlas.results.figures.text_fitting import wrap_text
from fedatlas.results.figures.text_table import RULE_COLOUR

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH, LINE, STEP, GAP = 8.0, 0.17, 0.12, 0.14  # inches: of the figure, a line, between algorithms, between rows
WIDE = 1000  # ratio of the ends of an axis from which on powers of ten alone are its ticks
TITLE, SIZE = 1.9, 9.0  # inches of titles, points of letters


@dataclass(frozen=True, kw_only=True)
class Regimes(SingleTargetFigure):
    """For each problem, who is within noise of the best, and what the nearest others need, with intervals.

    The same is a sentence in words, generated from the numbers, in the CSV and in the report. A number is a cost, or a
    score, over that of the best algorithm. Its interval is Student's t over paired seeds, with Bonferroni's correction
    for the rivals on the problem, and allows for what lies between two evaluations. An algorithm is said to need more
    only if its interval excludes equality; the one that is truly the best is so with a probability of at most ``level``
    (Hsu 1984). The best attains the target with most seeds, and among those costs least.
    """

    name = "regimes"

    named: int = option(
        3, doc="how many algorithms that are worse are drawn and get a number, the nearest first", low=1
    )

    def draw(self, data: FigureData) -> Drawing:
        benchmark = self.outcomes(data)
        names = [data.names[id] for id in benchmark.algorithms]
        by_problem = [standings(benchmark, problem, level=self.level) for problem in range(len(benchmark.problems))]
        results = [dict(zip(names, result, strict=True)) for result in by_problem]
        cost, quantity = None if self.scores else self.x, self.quantity(data)
        sentences = [
            _as_sentence(summarize_problem(result, quantity, cost, benchmark.log, self.named)) for result in results
        ]
        titles = problem_titles(data, benchmark)
        shown = [self._shown(dict(zip(benchmark.algorithms, result, strict=True))) for result in by_problem]
        rows = list(zip(titles, shown, strict=True))
        notes = [
            "" if self.scores else self.target_note(data, [self.share]),
            f"Intervals: {self.confidence} over paired seeds, corrected for the number of rivals"
            + ("." if self.scores else ", and for what lies between two evaluations."),
        ]
        overall = _as_sentence(summarize_problems(results)) if len(results) > 1 else ""
        chart = SentenceChart(list(map(plain_text, titles)), " ".join(filter(None, [overall, *notes])))
        words = f"{quantity}, {'as a multiple of' if benchmark.log else 'behind'} the best"
        figure = _forest(rows, data, benchmark.log, words)
        hollow = "Filled: the best and what is within noise of it; hollow: worse."
        layout.add_notes(figure, layout.wrap_notes(figure.get_figwidth(), hollow, *notes))
        return Drawing(figure, problem_frame(data, benchmark).assign(sentence=sentences), chart)

    def _shown(self, result: dict[str, Standing]) -> dict[str, Standing]:
        """Return the standings by id that are drawn: the best, those near it, and the nearest of the worse."""
        rank = ("best", "near", "worse")
        values = {id: each.gap.value for id, each in result.items() if each.gap is not None}
        finite = [id for id, value in values.items() if math.isfinite(value)]
        order = sorted(finite, key=lambda id: (rank.index(result[id].state), values[id]))
        front = [id for id in order if result[id].state != "worse"]
        return {id: result[id] for id in order[: len(front) + self.named]}


def _as_sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _forest(rows: list[tuple[str, dict[str, Standing]]], data: FigureData, log: bool, words: str) -> "Figure":
    """Return a figure with a row for each problem: its best algorithms and the nearest worse ones, with intervals.

    Args:
        rows: (title, standings by id, the best first) of each problem.
        data: The figure's data.
        log: Whether numbers are ratios.
        words: Label of the abscissa.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    titles = [wrap_text(title, TITLE, SIZE) for title, _ in rows]
    heights = [max(LINE * len(title), STEP * len(shown)) + GAP for title, (_, shown) in zip(titles, rows, strict=True)]
    figure = layout.empty_figure((WIDTH, sum(heights) + 1.1), fixed=True)
    ax = figure.subplots()
    values = [standing.gap.value for _, shown in rows for standing in shown.values() if standing.gap is not None]
    ends = layout.limits(np.array([*values, 1.0 if log else 0.0]), log)
    assert ends is not None  # equality is among the values
    if log:
        ax.set_xscale("log")
        ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if ends[1] < WIDE * ends[0] else (1,)))
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: labels.number(value)))
        ax.xaxis.set_minor_formatter(NullFormatter())
    edges = [sum(heights[:row]) for row in range(len(rows) + 1)]
    ax.set(xlim=ends, ylim=(edges[-1], 0), xlabel=words)
    ax.axvline(1.0 if log else 0.0, color=REFERENCE, linewidth=1)
    for (_, shown), top, bottom in zip(rows, edges[:-1], edges[1:], strict=True):
        ax.axhline(bottom, color=RULE_COLOUR, linewidth=0.7)
        for place, (id, standing) in enumerate(shown.items(), 1):
            style, y = data.styles[id], top + (bottom - top) * place / (len(shown) + 1)
            assert standing.gap is not None  # what is shown has a number
            low, high = (min(max(end, ends[0]), ends[1]) for end in standing.interval)
            ax.hlines(y, low, high, color=style.colour, linewidth=1.3)
            face = "white" if standing.state == "worse" else style.colour
            ax.plot(standing.gap.value, y, color=style.colour, marker=style.marker, markerfacecolor=face, markersize=5)
        if not shown:
            ax.text(0.01, (top + bottom) / 2, "none", va="center", transform=ax.get_yaxis_transform(), fontsize=SIZE)
    middles = [(top + bottom) / 2 for top, bottom in itertools.pairwise(edges)]
    ax.set_yticks(middles, ["\n".join(title) for title in titles], fontsize=SIZE)
    ax.tick_params(axis="y", length=0)
    ax.grid(False, axis="y")
    present = {id for _, shown in rows for id in shown}
    if present:
        layout.legend(figure, {id: style for id, style in data.styles.items() if id in present}, data.names)
    return figure
