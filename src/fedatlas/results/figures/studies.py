"""The agreement of tuning studies: whether other tuning seeds give the same order of the algorithms."""

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fedatlas.experiments import labels
from fedatlas.experiments.cells import TUNING_SEEDS
from fedatlas.experiments.selection import select_rows, sorted_values
from fedatlas.registry.options import option
from fedatlas.results.comparing.benchmark import Benchmark
from fedatlas.results.comparing.intervals import Resampled
from fedatlas.results.comparing.profiles import profile_areas
from fedatlas.results.comparing.ranking import compare_orders, kendall
from fedatlas.results.comparing.targets import target_costs
from fedatlas.results.figures.base import Drawing
from fedatlas.results.figures.coloured_table import ColouredCell, draw_table
from fedatlas.results.figures.comparison_figure import ComparisonFigure, problem_titles
from fedatlas.results.figures.figure_data import FigureData
from fedatlas.results.figures.pairwise import balance_colour

if TYPE_CHECKING:
    from pandas import DataFrame

Pair = tuple[int, int]  # numbers of two studies


@dataclass(frozen=True, kw_only=True)
class Studies(ComparisonFigure):
    """A table of Kendall's rank correlation between the orders of tuning studies: by problem, in the median, over all.

    A study is a value of the axis ``select.seeds``: the same trials, compared on other tuning seeds. The chosen values
    of all studies run on the same scoring seeds, and targets are common, so orders differ by what was chosen alone.
    Algorithms are ordered by the area under the performance profile, on one problem or on all. The correlation is not
    defined where one study tells no algorithms apart.
    """

    name = "studies"

    shares: list[float] = option(
        lambda: [0.1, 0.01, 0.001],
        doc="targets: shares of the difference between the metric's first and best value; all count alike",
        filled=True,
        distinct=True,
    )
    within: float = option(16.0, doc="ratio to the best cost from which on a problem counts nothing", above=1)
    resamples: int = option(1000, doc="how often problems and seeds are resampled for the intervals", low=100)

    def spreads(self) -> set[str]:
        return {TUNING_SEEDS}

    def draw(self, data: FigureData) -> Drawing:
        studies = self._studies(data)
        pairs = list(itertools.combinations(range(len(studies)), 2))
        areas = [profile_areas(study.numbers, self.within).mean(axis=2) for study in studies]  # (algorithms, problems)
        by_problem = [
            [float(kendall(areas[i][:, p], areas[j][:, p])) for i, j in pairs] for p in range(len(areas[0].T))
        ]
        medians = [_median(values) for values in zip(*by_problem, strict=True)]
        taus = [compare_orders(studies[i], studies[j], self.within, self.resamples)[2].tau for i, j in pairs]
        titles = problem_titles(data, studies[0], self._axes(data)) if len(by_problem) > 1 else ["the problem"]
        cells = [[_cell(tau) for tau in row] for row in by_problem] + [[_cell(tau, bold=True) for tau in medians]]
        overall = [(_text(tau.value), *tau.interval()) for tau in taus]
        ends = [f"{text} ({_text(low)} to {_text(high)})" for text, low, high in overall]
        notes = [
            f"Kendall's τ between the orders of {labels.count_noun(len(areas[0]), 'algorithm')} by the area under the "
            f"performance profile of {self.cost_name}, tuned on other seeds, scored on the same.",
            self.target_note(data, self.shares),
            "All problems: with 95 % intervals by resampling problems and seeds.",
        ]
        names = [f"studies {i + 1} and {j + 1}" for i, j in pairs]
        rows = [*titles, "median problem"]
        figure = draw_table(rows, names, cells, width=1.5, footer=[("all problems", ends)], notes=notes)
        return Drawing(figure, _numbers(titles, pairs, by_problem, medians, taus))

    def _axes(self, data: FigureData) -> list[str]:
        """Return the axes whose points are the problems."""
        return [axis for axis in data.view.axes if axis != TUNING_SEEDS]

    def _studies(self, data: FigureData) -> list[Benchmark]:
        """Return the benchmark of each study, with targets that all studies set.

        Raises:
            UserError: There are fewer than two studies.
        """
        spec = self.target_spec(data, self.shares)
        data.require(data.curves, spec.column, data.y)
        rows = select_rows(data.curves, self.where)
        studies = sorted_values(rows[TUNING_SEEDS]) if TUNING_SEEDS in rows else []
        if len(studies) < 2:
            raise data.error(f"it compares tuning studies, which are two or more values of the axis {TUNING_SEEDS}")
        ids = {study: [f"{id} {number}" for id in data.view.algorithms] for number, study in enumerate(studies)}
        numbers = rows[TUNING_SEEDS].map({study: str(number) for number, study in enumerate(studies)})
        together = rows.assign(algorithm=rows["algorithm"].astype(str) + " " + numbers.astype(str))
        benchmark = target_costs(together, [id for group in ids.values() for id in group], self._axes(data), spec)
        place = {id: at for at, id in enumerate(data.view.algorithms)}
        return [benchmark.select_algorithms([group[place[id]] for id in data.styles]) for group in ids.values()]


def _median(values: "tuple[float, ...]") -> float:
    defined = [value for value in values if not math.isnan(value)]
    return float(np.median(defined)) if defined else math.nan


def _text(tau: float) -> str:
    return "–" if not math.isfinite(tau) else labels.number(max(-1.0, min(1.0, tau)), 2).replace("-", "−")


def _cell(tau: float, bold: bool = False) -> ColouredCell:
    if math.isnan(tau):
        return ColouredCell("–", hatched=True)
    return ColouredCell(_text(tau), balance_colour(tau), font={"fontweight": "bold" if bold else "normal"})


def _numbers(
    titles: list[str], pairs: list[Pair], by_problem: list[list[float]], medians: list[float], taus: list[Resampled]
) -> "DataFrame":
    """Return a row for each problem, the median problem and all problems, and each pair of studies."""
    import pandas as pd

    rows = []
    for title, values in [*zip(titles, by_problem, strict=True), ("median problem", medians)]:
        rows += [{"problem": title, "first": i + 1, "second": j + 1, "tau": tau} for (i, j), tau in
                 zip(pairs, values, strict=True)]  # fmt: skip
    for (i, j), tau in zip(pairs, taus, strict=True):
        low, high = tau.interval()
        ends = {"tau": tau.value, "low": low, "high": high}
        rows.append({"problem": "all problems", "first": i + 1, "second": j + 1, **ends})
    return pd.DataFrame(rows)
