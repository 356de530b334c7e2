"""Wins, ties and losses of each algorithm against each other."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fedatlas.experiments import labels
from fedatlas.results.comparing.pairwise import PairwiseCounts, count_wins
from fedatlas.results.figures.base import Drawing
from fedatlas.results.figures.coloured_table import Cell, mosaic
from fedatlas.results.figures.comparison_figure import SingleTargetFigure
from fedatlas.results.figures.figure_data import FigureData

if TYPE_CHECKING:
    from pandas import DataFrame

MANY = 16  # algorithms; beyond them a cell has one number


@dataclass(frozen=True, kw_only=True)
class Pairwise(SingleTargetFigure):
    """A table of wins, ties and losses over problems: the row's algorithm against the column's.

    A win is a cost, or a score, that is better in the mean over paired seeds: Student's t interval excludes equality,
    whatever lies between two evaluations. Everything else is a tie, also where neither attains the target. Problems
    count for which both are defined. Rows are sorted by wins minus losses.
    """

    name = "pairwise"

    def draw(self, data: FigureData) -> Drawing:
        board = self.numbers(data)
        found = count_wins(board, self.level)
        numbers = _numbers(data, found)
        net = (found.wins - found.losses).sum(axis=1)
        order = sorted(range(len(net)), key=lambda a: -net[a])
        names = [data.names[board.algorithms[a]] for a in order]
        most = max(1, len(board.problems))
        short = len(order) > MANY
        gap = [Cell("")] if short else []  # before totals, which are wider than a column
        cells = [[_cell(found, a, b, most, short) for b in order] + gap + [_total(found, a)] for a in order]
        what = self.what(data)
        notes = [
            f"{what[:1].upper()}{what[1:]} on {labels.count_noun(len(board.problems), 'problem')}: "
            + (
                "wins minus losses of the row; to the right wins – ties – losses."
                if short
                else "wins – ties – losses of the row."
            ),
            f"A win: the {self.sure} interval over paired seeds excludes equality.",
            "" if self.scores else self.told(data, [self.share]),
        ]
        figure = mosaic(
            names,
            [*names, *[""] * len(gap), "all"],
            cells,
            width=0.36 if short else 0.62 if most < 10 else 0.74,
            notes=notes,
        )
        return Drawing(figure, numbers)


def _cell(found: PairwiseCounts, a: int, b: int, most: int, short: bool) -> Cell:
    if a == b:
        return Cell("")
    wins, ties, losses = (int(each[a, b]) for each in (found.wins, found.ties, found.losses))
    if wins + ties + losses == 0:
        return Cell("", hatched=True)
    net = wins - losses
    text = (f"{net:+d}".replace("-", "−") if net else "0") if short else f"{wins}–{ties}–{losses}"
    return Cell(text, _shade(net / most), look={"fontsize": 7})


def _total(found: PairwiseCounts, a: int) -> Cell:
    wins, ties, losses = (int(each[a].sum()) for each in (found.wins, found.ties, found.losses))
    return Cell(f"{wins}–{ties}–{losses}", look={"fontsize": 7, "fontweight": "bold"})


def _shade(net: float) -> tuple[float, ...]:
    """Blue for more wins than losses, orange for more losses."""
    blue, white, orange = (np.array(colour) / 255 for colour in ((106, 174, 214), (247, 247, 247), (244, 162, 89)))
    end = blue if net > 0 else orange
    return tuple((white + abs(net) * (end - white)).tolist())


def _numbers(data: FigureData, found: PairwiseCounts) -> "DataFrame":
    import pandas as pd

    ids = list(data.styles)
    return pd.DataFrame(
        {"algorithm": one, "against": other, "wins": found.wins[a, b], "ties": found.ties[a, b]}
        | {"losses": found.losses[a, b]}
        for a, one in enumerate(ids)
        for b, other in enumerate(ids)
        if a != b
    )
