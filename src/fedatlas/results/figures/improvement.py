"""The probability that each algorithm improves upon each other one."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fedatlas.experiments import labels
from fedatlas.registry.options import option
from fedatlas.results.comparing.improvement import Improvement, probability_of_improvement
from fedatlas.results.figures import table_picture
from fedatlas.results.figures.base import Drawing
from fedatlas.results.figures.comparison_figure import SingleTargetFigure
from fedatlas.results.figures.figure_data import FigureData
from fedatlas.results.figures.text_table import Cell, TextTable

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True, kw_only=True)
class ImprovementTable(SingleTargetFigure):
    """A table of the probability, in percent, that the row's algorithm is better than the column's on an instance.

    An instance is a problem with one seed, on which both are compared; ratios within 5 % count one half (Agarwal et al.
    2021). Problems count alike, as far as both are defined. Intervals resample problems and seeds. Rows are sorted by
    the mean over all others, which stands to the right.
    """

    name = "improvement"

    resamples: int = option(1000, doc="how often problems and seeds are resampled for the intervals", low=100)

    def draw(self, data: FigureData) -> Drawing:
        benchmark = self.outcomes(data)
        result = probability_of_improvement(benchmark, self.resamples, level=self.level)
        order = np.argsort(-result.mean, kind="stable")
        names = [data.names[benchmark.algorithms[a]] for a in order]
        cells = [[*(_cell(result, a, b) for b in order), _mean(result, a)] for a in order]
        quantity = self.quantity(data)
        seeds = labels.count_noun(benchmark.seeds.shape[1], "seed")
        notes = [
            f"Probability in percent that the row has the better {quantity} than the column on an instance: "
            f"{labels.count_noun(len(benchmark.problems), 'problem')}, {seeds} of each.",
            f"Bold: the {self.confidence} interval by resampling problems and seeds excludes 50.",
            "To the right: mean over the other algorithms, with its interval.",
            "" if self.scores else self.target_note(data, [self.share]),
        ]
        table = TextTable(
            heads=[[(name, 1) for name in (*names, "all others")]],
            blocks=[("", list(zip(zip(names), cells, strict=True)))],
            notes=notes,
            slanted=True,
            size=7,
        )
        return Drawing(table_picture.draw(table), _numbers(benchmark.algorithms, result))


def _cell(result: Improvement, a: int, b: int) -> Cell:
    if a == b:
        return Cell()
    share = result.probability[a, b]
    if np.isnan(share):
        return Cell(hatched=True)
    bold = bool(result.low[a, b] > 0.5 or result.high[a, b] < 0.5)
    return Cell(f"{100 * share:.0f}", bold, _balance_colour(2 * share - 1))


def _balance_colour(balance: float) -> tuple[float, ...]:
    """Return blue for a row that is better more often, orange for one that is worse; balance: from -1 to 1."""
    blue, white, orange = (np.array(colour) / 255 for colour in ((106, 174, 214), (247, 247, 247), (244, 162, 89)))
    end = blue if balance > 0 else orange
    return tuple((white + abs(balance) * (end - white)).tolist())


def _mean(result: Improvement, a: int) -> Cell:
    low, high = 100 * result.mean_low[a], 100 * result.mean_high[a]
    return Cell(f"{100 * result.mean[a]:.0f} ({low:.0f}–{high:.0f})")


def _numbers(algorithms: list[str], result: Improvement) -> "DataFrame":
    """Return a row for each pair of algorithms, and one against all others, whose rival is empty."""
    import pandas as pd

    rows = []
    for a, id in enumerate(algorithms):
        mean = {"probability": result.mean[a], "low": result.mean_low[a], "high": result.mean_high[a]}
        rows.append({"algorithm": id, "against": "all", **mean, "problems": int(result.problems[a].max())})
        for b, rival in enumerate(algorithms):
            if a != b:
                ends = {"low": result.low[a, b], "high": result.high[a, b], "problems": int(result.problems[a, b])}
                rows.append({"algorithm": id, "against": rival, "probability": result.probability[a, b], **ends})
    return pd.DataFrame(rows)
