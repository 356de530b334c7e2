"""Performance profiles (Dolan & Moré 2002), and profiles over shares of the budget (Moré & Wild 2009)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fedatlas.errors import UserError
from fedatlas.experiments import labels
from fedatlas.registry.options import option
from fedatlas.results.comparing.benchmark import Benchmark
from fedatlas.results.comparing.profiles import Profile, budget_shares, compute_profile, performance_ratios
from fedatlas.results.comparing.ranks import rank_algorithms
from fedatlas.results.figures import layout
from fedatlas.results.figures.base import Drawing, PanelFigure
from fedatlas.results.figures.browser_chart import LineChart, chart_lines
from fedatlas.results.figures.comparison_figure import ComparisonFigure, problem_frame
from fedatlas.results.figures.figure_data import FigureData
from fedatlas.results.figures.style import GREY

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

POINTS = 241  # abscissas of a profile
MARKERS = 6  # markers of a line
MARGIN = 1.06  # times the largest share of the budget, so that the last step is visible
MAX_BANDS = 4  # lines in a panel that have bands; of more lines, each has bars at its markers


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
    apart: bool = option(False, doc="whether each algorithm has a panel of its own, with all others in grey")
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
        if self.apart and self.panel is not None:
            raise UserError(f"{self.title()}: algorithms apart have panels of their own; leave out panel or apart")

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
        best = order[: self.named]
        if self.apart:
            panels = [(data.names[benchmark.algorithms[a]], profiles[0][2], [a]) for a in order]
        else:
            panels = [(title, result, best) for title, _, result in profiles]
        figure, axes = layout.grid(len(panels))
        for ax, (title, result, coloured) in zip(axes, panels, strict=True):
            ax.set_title(title)
            for a in reversed(order):
                _draw_line(ax, data, benchmark.algorithms[a], result, a, a in coloured, len(coloured))
            _set_powers_of_two(ax, float(x[0]), float(x[-1]))
            ax.set_ylim(-0.02, 1.02)
        words = f"{self.cost_name}, as {'a multiple of the best' if relative else 'a share of the budget'}"
        layout.label(axes, words.replace(", as", ",\nas") if len(axes) > 1 else words, "share of problems solved")
        if not self.apart:
            _add_legend(figure, data, benchmark, order, self.named)
        notes = self._notes(data, benchmark, [len(rows) for _, rows, _ in profiles])
        layout.add_notes(figure, layout.wrap_notes(figure.get_figwidth(), *notes))
        chart = LineChart(
            x={"x": labels.plain_text(words)},
            y=("share", "share of problems solved"),
            lines=chart_lines(data.styles, data.names, set(data.styles) - {benchmark.algorithms[a] for a in best}),
            range=("low", "high"),
            logx=bool(x[0] > 0),
            steps=True,
            note=f"{self.target_note(data, self.shares)} Range: 95 % by resampling {self._resampled}.",
        )
        return Drawing(figure, _numbers(data, profiles), chart)

    @property
    def _resampled(self) -> str:
        return "problems and seeds" if self.bands == "problems" else "the seeds of each problem"

    def _notes(self, data: FigureData, benchmark: Benchmark, counts: Sequence[int]) -> list[str]:
        coloured = 1 if self.apart else min(self.named, len(benchmark.algorithms))
        ranges = "Bars" if coloured > MAX_BANDS else "Bands"
        fewest, most = min(counts), max(counts)
        problems = labels.count_noun(most, "problem") if fewest == most else f"{fewest} to {most} problems"
        return [
            f"{problems}, {data.random_seeds}.",
            self.target_note(data, self.shares),
            f"{ranges}: 95 % by resampling {self._resampled}.",
            "" if benchmark.defined.all() else "What an algorithm is not defined for, it does not solve.",
        ]


def _draw_line(ax: "Axes", data: FigureData, id: str, profile: Profile, a: int, coloured: bool, count: int) -> None:
    """Draw a line with its band, or with bars at its markers where bands would hide one another.

    Args:
        ax: The axes.
        data: Data of the figure.
        id: Id of the algorithm.
        profile: Profiles of all algorithms.
        a: Index of the algorithm.
        coloured: Whether the line has its colour; otherwise it is grey, without a band.
        count: Number of lines that have their colour.
    """
    style = data.styles[id]
    x, share, low, high = profile.abscissas, profile.share[a], profile.low[a], profile.high[a]
    if not coloured:
        ax.plot(x, share, color=GREY, linewidth=0.8, alpha=0.55, drawstyle="steps-post", zorder=1.6)
        return
    step = len(x) // MARKERS
    start = 0 if count == 1 else a * step // max(1, len(data.styles))
    if count > MAX_BANDS:
        marked = slice(start, None, step)
        ax.vlines(x[marked], low[marked], high[marked], color=style.colour, linewidth=0.9, alpha=0.7)
    else:
        band: dict[str, Any] = {"color": style.colour, "alpha": 0.2 if count == 1 else 0.1, "linewidth": 0}
        ax.fill_between(x, low, high, step="post", **band)
    properties = style.properties | {"markersize": style.size - 0.7}
    ax.plot(x, share, drawstyle="steps-post", markevery=(start, step), **properties)


def _add_legend(figure: "Figure", data: FigureData, benchmark: Benchmark, order: Sequence[int], named: int) -> None:
    """Add names beside the panels, those with the largest area first."""
    handles = []
    defined, count = benchmark.defined.sum(axis=1), len(benchmark.problems)
    for a in order[:named]:
        id = benchmark.algorithms[a]
        text = data.names[id] + (f" ({defined[a]} of {count})" if defined[a] < count else "")
        handles.append(layout.line_handle(data.styles[id], text))
    if len(order) > named:
        text = f"{len(order) - named} others"
        handles.append(layout.note_handle(text, linestyle="-", color=GREY, linewidth=0.8))
    widest = max(len(str(handle.get_label())) for handle in handles)
    figure.set_figwidth(figure.get_figwidth() + 0.8 + 0.078 * widest)
    figure.legend(handles=handles, loc="outside right upper")


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


def _set_powers_of_two(ax: "Axes", low: float, high: float) -> None:
    """Set a logarithmic x-axis with ticks at powers of two, as numbers."""
    from matplotlib.ticker import FixedLocator, NullLocator

    ax.set_xscale("log", base=2)
    ends = math.floor(math.log2(low)), math.ceil(math.log2(high))
    step = max(1, -(-(ends[1] - ends[0]) // 6))
    powers = [2.0**k for k in range(ends[0], ends[1] + 1, step)]
    ticks = [tick for tick in powers if low <= tick * (1 + 1e-9) and tick <= high * (1 + 1e-9)]
    ax.xaxis.set_major_locator(FixedLocator(ticks))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xticks(ticks, [labels.number(tick) if tick >= 1 else f"1/{labels.number(1 / tick)}" for tick in ticks])
    ax.set_xlim(low, high)
