"""Wins, ties and losses of each algorithm against each other."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fedatlas.experiments import labels
from fedatlas.results.comparing.pairwise import PairwiseCounts, count_wins
from fedatlas.results.figures.base import Drawing
from fedatlas.results.figures.coloured_table import ColouredCell, draw_table
from fedatlas.results.figures.comparison_figure import SingleTargetFigure
from fedatlas.results.figures.figure_data import FigureData

if TYPE_CHECKING:
    from pandas import DataFrame

MAX_TRIPLES = 16  # algorithms; with more of them a cell has one number


@dataclass(frozen=True, kw_only=True)
class Pairwise(SingleTargetFigure):
    """A table of wins, ties and losses over problems: the row's algorithm against the column's.

    A win is a cost, or a score, that is better in the mean over paired seeds: Student's t interval excludes equality,
    whatever lies between two evaluations. Everything else is a tie, also where neither attains the target. Problems
    count for which both are defined. Rows are sorted by wins minus losses.
    """

    name = "pairwise"

    def draw(self, data: FigureData) -> Drawing:
        benchmark = self.outcomes(data)
        results = count_wins(benchmark, self.level)
        net = (results.wins - results.losses).sum(axis=1)
        order = sorted(range(len(net)), key=lambda a: -net[a])
        names = [data.names[benchmark.algorithms[a]] for a in order]
        most = max(1, len(benchmark.problems))
        short = len(order) > MAX_TRIPLES
        gap = [ColouredCell("")] if short else []  # before totals, which are wider than a column
        cells = [[_cell(results, a, b, most, short) for b in order] + gap + [_total(results, a)] for a in order]
        quantity = self.quantity(data)
        order_note = "wins – ties – losses of the row."
        if short:
            order_note = "wins minus losses of the row; to the right wins – ties – losses."
        problems = labels.count_noun(len(benchmark.problems), "problem")
        notes = [
            f"{quantity[:1].upper()}{quantity[1:]} on {problems}: {order_note}",
            f"A win: the {self.confidence} interval over paired seeds excludes equality.",
            "" if self.scores else self.target_note(data, [self.share]),
        ]
        width = 0.36 if short else 0.62 if most < 10 else 0.74
        figure = draw_table(names, [*names, *[""] * len(gap), "all"], cells, width=width, notes=notes)
        return Drawing(figure, _numbers(data, results))


def _cell(results: PairwiseCounts, a: int, b: int, most: int, short: bool) -> ColouredCell:
    if a == b:
        return ColouredCell("")
    wins, ties, losses = (int(counts[a, b]) for counts in (results.wins, results.ties, results.losses))
    if wins + ties + losses == 0:
        return ColouredCell("", hatched=True)
    net = wins - losses
    text = (f"{net:+d}".replace("-", "−") if net else "0") if short else f"{wins}–{ties}–{losses}"
    return ColouredCell(text, balance_colour(net / most), font={"fontsize": 7})


def _total(results: PairwiseCounts, a: int) -> ColouredCell:
    wins, ties, losses = (int(counts[a].sum()) for counts in (results.wins, results.ties, results.losses))
    return ColouredCell(f"{wins}–{ties}–{losses}", font={"fontsize": 7, "fontweight": "bold"})


def balance_colour(net: float) -> tuple[float, ...]:
    """Return blue for more wins than losses, orange for more losses; net: their difference as a share."""
    blue, white, orange = (np.array(colour) / 255 for colour in ((106, 174, 214), (247, 247, 247), (244, 162, 89)))
    end = blue if net > 0 else orange
    return tuple((white + abs(net) * (end - white)).tolist())


def _numbers(data: FigureData, results: PairwiseCounts) -> "DataFrame":
    import pandas as pd

    ids = list(data.styles)
    return pd.DataFrame(
        {"algorithm": id, "against": rival, "wins": results.wins[a, b], "ties": results.ties[a, b]}
        | {"losses": results.losses[a, b]}
        for a, id in enumerate(ids)
        for b, rival in enumerate(ids)
        if a != b
    )
