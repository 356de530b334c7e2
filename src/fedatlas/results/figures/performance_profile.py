"""Performance profiles (Dolan & Moré 2002), and profiles over shares of the budget (Moré & Wild 2009)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from fedatlas.errors import UserError
from fedatlas.experiments import labels
from fedatlas.registry.options import option
from fedatlas.results.comparing.benchmark import Benchmark
from fedatlas.results.comparing.profiles import Profile, budget_shares, compute_profile, performance_ratios
from fedatlas.results.comparing.ranks import rank_algorithms
from fedatlas.results.figures.base import Drawing, PanelFigure
from fedatlas.results.figures.comparison_figure import ComparisonFigure, problem_frame
from fedatlas.results.figures.description import Lines, describe_lines
from fedatlas.results.figures.figure_data import FigureData

if TYPE_CHECKING:
    from pandas import DataFrame

POINTS = 241  # abscissas of a profile
MARGIN = 1.06  # times the largest share of the budget, so that the last step is visible


@dataclass(frozen=True, kw_only=True)
class PerformanceProfile(ComparisonFigure, PanelFigure):
    """The share of problems that each algorithm solves at a cost of at most r times the best one's, against r.

    A problem is a point of the axes. Each of its targets and seeds is an instance of it; algorithms meet on the same
    seed, and all problems have the same weight (Dolan & Moré 2002; Hansen et al. 2021). A run that never attains a
    target does not solve it at any r. The best cost is that of the algorithms that are drawn. With ``unit: budget`` the
    abscissa is the cost as a share of the problem's budget, the most that any of its runs spends; Moré & Wild (2009)
    count gradients of a problem's dimension.
    """

    name = "performance_profile"

    unit: Literal["best", "budget"] = option("best", doc="unit of the cost: the best cost, or the problem's budget")
    within: float = option(16.0, doc="largest ratio to the best cost that is drawn", above=1)
    shares: list[float] = option(
        lambda: [0.1, 0.01, 0.001],
        doc="targets: shares of the difference between the metric's first and best value; all count alike",
        filled=True,
        distinct=True,
    )
    named: int = option(
        8, doc="how many algorithms have a colour and a band: the best of all panels; others are grey lines", low=1
    )
    bands: Literal["problems", "seeds"] = option(
        "problems",
        doc="what is resampled for the bands: problems and their seeds, as if problems were drawn from all that there "
        "are; or the seeds of each problem alone, which with instance: seed are its instances",
    )
    resamples: int = option(1000, doc="how often they are resampled", low=100)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not all(0 < share < 1 for share in self.shares):
            raise UserError(f"{self.title()}: shares is {self.shares}; each must lie between 0 and 1")

    def draw(self, data: FigureData) -> Drawing:
        benchmark = self.benchmark(data, self.shares)
        relative = self.unit == "best"
        values = performance_ratios(benchmark.numbers) if relative else budget_shares(benchmark)
        x = _geometric(1.0, self.within) if relative else _grid(values)
        parts = [(title, list(part.index)) for title, part in data.panels(problem_frame(data, benchmark))]
        fixed = self.bands == "seeds"
        profiles = [
            (title, rows, compute_profile(values[:, rows], x, self.resamples, fixed=fixed)) for title, rows in parts
        ]
        order = rank_algorithms(benchmark)
        best = [benchmark.algorithms[a] for a in order[: self.named]]
        styles = {benchmark.algorithms[a]: data.styles[benchmark.algorithms[a]] for a in order}
        words = f"{self.cost_name}, as {'a multiple of the best' if relative else 'a share of the budget'}"
        description = Lines(
            x={"x": words},
            y=("share", "share of problems solved"),
            lines=describe_lines(styles, self._names(data, benchmark), set(styles) - set(best)),
            range=("low", "high"),
            logx=bool(x[0] > 0),
            limits=(0.0, 1.0),
            steps=True,
            note=labels.join_sentences(*self._notes(data, benchmark, [len(rows) for _, rows, _ in profiles])),
        )
        return Drawing(_numbers(data, profiles), description)

    def _names(self, data: FigureData, benchmark: Benchmark) -> dict[str, str]:
        """Return the names of algorithms, with the number of problems of those that are not defined for all."""
        defined, count = benchmark.defined.sum(axis=1), len(benchmark.problems)
        few = {id: f" ({n} of {count})" for id, n in zip(benchmark.algorithms, defined, strict=True) if n < count}
        return {id: name + few.get(id, "") for id, name in data.names.items()}

    @property
    def _resampled(self) -> str:
        return "problems and seeds" if self.bands == "problems" else "the seeds of each problem"

    def _notes(self, data: FigureData, benchmark: Benchmark, counts: Sequence[int]) -> list[str]:
        fewest, most = min(counts), max(counts)
        problems = labels.count_noun(most, "problem") if fewest == most else f"{fewest} to {most} problems"
        return [
            f"{problems}, {data.random_seeds}.",
            self.target_note(data, self.shares),
            f"Ranges: 95 % by resampling {self._resampled}.",
            "" if benchmark.defined.all() else "What an algorithm is not defined for, it does not solve.",
        ]


def _numbers(data: FigureData, profiles: "Sequence[tuple[str, list[int], Profile]]") -> "DataFrame":
    """Return shares and bands: a row for each panel, algorithm and abscissa."""
    import pandas as pd

    return data.tidy(
        (title, id, pd.DataFrame({"x": p.abscissas, "share": p.share[a], "low": p.low[a], "high": p.high[a]}).assign(
            problems=len(rows)))
        for title, rows, p in profiles
        for a, id in enumerate(data.styles)
    )  # fmt: skip


def _grid(values: np.ndarray) -> np.ndarray:
    """Return the abscissas of shares of the budget, ascending, from the values of all panels."""
    finite = values[np.isfinite(values) & (values > 0)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.5, 1.0)
    return _geometric(low, high * MARGIN if high > low else 2 * low)


def _geometric(low: float, high: float) -> np.ndarray:
    """Return abscissas at equal ratios, whose ends are exact."""
    x = np.geomspace(low, high, POINTS)
    x[0], x[-1] = low, high
    return x
