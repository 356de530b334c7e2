"""What performance profiles and data profiles share: their options, and how their lines and bands are drawn."""

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fedatlas.errors import UserError
from fedatlas.experiments import labels
from fedatlas.registry.options import option
from fedatlas.results.comparing.profiles import Profile, compute_profile
from fedatlas.results.comparing.ranking import rank_algorithms
from fedatlas.results.comparing.targets import Benchmark
from fedatlas.results.figures import layout
from fedatlas.results.figures.base import Drawing, PanelFigure
from fedatlas.results.figures.browser_chart import Chart, lines, plain
from fedatlas.results.figures.comparison_figure import ComparisonFigure, problems
from fedatlas.results.figures.figure_data import FigureData
from fedatlas.results.figures.style import GREY

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

POINTS = 241  # abscissas of a profile
MARKS = 6  # markers of a line
BANDS = 4  # lines in a panel that have bands; of more, each has bars at its markers


@dataclass(frozen=True, kw_only=True)
class ProfileFigure(ComparisonFigure, PanelFigure):
    """A figure of the share of problems that algorithms solve, with bands by resampling problems and seeds."""

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
    resamples: int = option(1000, doc="how often problems and seeds are resampled for the bands", low=100)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not all(0 < share < 1 for share in self.shares):
            raise UserError(f"{self.title()}: shares is {self.shares}; each must lie between 0 and 1")
        if self.apart and self.panel is not None:
            raise UserError(f"{self.title()}: algorithms apart have panels of their own; leave out panel or apart")

    @abstractmethod
    def values(self, board: Benchmark) -> np.ndarray:
        """What the abscissas count, for each instance, of the shape of the board's numbers."""

    @abstractmethod
    def abscissas(self, values: np.ndarray) -> np.ndarray:
        """Where the profile is drawn, ascending. values: of all panels."""

    @abstractmethod
    def across(self, ax: "Axes", at: np.ndarray) -> None:
        """Set scale and ticks of the x-axis."""

    @abstractmethod
    def axis(self, data: FigureData) -> str:
        """Label of the x-axis."""

    def draw(self, data: FigureData) -> Drawing:
        board = self.board(data, self.shares)
        values = self.values(board)
        at = self.abscissas(values)
        parts = [(title, list(part.index)) for title, part in data.panels(problems(data, board))]
        found = [(title, places, compute_profile(values[:, places], at, self.resamples)) for title, places in parts]
        numbers = _numbers(data, found)
        order = rank_algorithms(board)
        chart = self._chart(data, [board.algorithms[a] for a in order[: self.named]], at)
        if self.apart:
            panels = [(data.names[board.algorithms[a]], found[0][2], [a]) for a in order]
        else:
            panels = [(title, one, order[: self.named]) for title, _, one in found]
        figure, axes = layout.grid(len(panels))
        for ax, (title, one, bright) in zip(axes, panels, strict=True):
            ax.set_title(title)
            for a in reversed(order):
                _line(ax, data, board.algorithms[a], one, a, a in bright, len(bright))
            self.across(ax, at)
            ax.set_ylim(-0.02, 1.02)
        words = self.axis(data)
        layout.label(axes, words.replace(", as", ",\nas") if len(axes) > 1 else words, "share of problems solved")
        if not self.apart:
            _legend(figure, data, board, order, self.named)
        notes = self._notes(data, board, [len(places) for _, places, _ in found])
        layout.foot(figure, layout.wrapped(figure.get_figwidth(), *notes))
        return Drawing(figure, numbers, chart)

    def _chart(self, data: FigureData, named: Sequence[str], at: np.ndarray) -> Chart:
        quiet = set(data.styles) - set(named)
        return Chart(
            x={"x": plain(self.axis(data))},
            y=("share", "share of problems solved"),
            lines=lines(data.styles, data.names, quiet),
            range=("low", "high"),
            logx=bool(at[0] > 0),
            steps=True,
            note=f"{self.told(data, self.shares)} Range: 95 % by resampling problems and seeds.",
        )

    def _notes(self, data: FigureData, board: Benchmark, counts: Sequence[int]) -> list[str]:
        bright = 1 if self.apart else min(self.named, len(board.algorithms))
        shown = "Bars" if bright > BANDS else "Bands"
        fewest, most = min(counts), max(counts)
        each = labels.count_noun(most, "problem") if fewest == most else f"{fewest} to {most} problems"
        return [
            f"{each}, {labels.count_noun(board.seeds.shape[1], 'seed')}.",
            self.told(data, self.shares),
            f"{shown}: 95 % by resampling problems and seeds.",
            "" if board.defined.all() else "What an algorithm is not defined for, it does not solve.",
        ]


def _line(ax: "Axes", data: FigureData, id: str, one: Profile, a: int, bright: bool, beside: int) -> None:
    """A line with its band, or with bars at its markers where bands would hide each other. beside: lines in colour."""
    look = data.styles[id]
    if not bright:
        ax.plot(one.at, one.share[a], color=GREY, linewidth=0.8, alpha=0.55, drawstyle="steps-post", zorder=1.6)
        return
    step = len(one.at) // MARKS
    start = 0 if beside == 1 else a * step // max(1, len(data.styles))
    if beside > BANDS:
        marked = slice(start, None, step)
        ax.vlines(one.at[marked], one.low[a, marked], one.high[a, marked], color=look.colour, linewidth=0.9, alpha=0.7)
    else:
        shade: dict[str, Any] = {"color": look.colour, "alpha": 0.2 if beside == 1 else 0.1, "linewidth": 0}
        ax.fill_between(one.at, one.low[a], one.high[a], step="post", **shade)
    points: dict[str, Any] = {"marker": look.marker, "markevery": (start, step), "markersize": look.size - 0.7}
    points |= {"color": look.colour, "linestyle": look.line, "zorder": look.layer}
    ax.plot(one.at, one.share[a], drawstyle="steps-post", **points)


def _legend(figure: "Figure", data: FigureData, board: Benchmark, order: Sequence[int], named: int) -> None:
    """Names beside the panels, those with the largest area first."""
    from matplotlib.lines import Line2D

    handles: list[Artist] = []
    defined, count = board.defined.sum(axis=1), len(board.problems)
    for a in order[:named]:
        look = data.styles[board.algorithms[a]]
        text = data.names[board.algorithms[a]] + (f" ({defined[a]} of {count})" if defined[a] < count else "")
        handles.append(Line2D([], [], color=look.colour, linestyle=look.line, marker=look.marker, label=text))
    if len(order) > named:
        handles.append(Line2D([], [], color=GREY, linewidth=0.8, label=f"{len(order) - named} others"))
    widest = max(len(str(handle.get_label())) for handle in handles)
    figure.set_figwidth(figure.get_figwidth() + 0.8 + 0.078 * widest)
    figure.legend(handles=handles, loc="outside right upper")


def _numbers(data: FigureData, found: "Sequence[tuple[str, list[int], Profile]]") -> "DataFrame":
    """Tidy shares and bands: a row for each panel, algorithm and abscissa."""
    import pandas as pd

    rows = []
    for title, places, one in found:
        for a, id in enumerate(data.styles):
            part = pd.DataFrame({"x": one.at, "share": one.share[a], "low": one.low[a], "high": one.high[a]})
            part.insert(0, "algorithm", id)
            if title:
                part.insert(0, "panel", plain(title))
            rows.append(part.assign(problems=len(places)))
    return pd.concat(rows, ignore_index=True)


def geometric(low: float, high: float) -> np.ndarray:
    """Abscissas at equal ratios, with their ends exactly as they are given."""
    at = np.geomspace(low, high, POINTS)
    at[0], at[-1] = low, high
    return at


def powers(ax: "Axes", low: float, high: float) -> None:
    """A log2 axis with its powers of two, as numbers."""
    from matplotlib.ticker import FixedLocator, NullLocator

    ax.set_xscale("log", base=2)
    ends = math.floor(math.log2(low)), math.ceil(math.log2(high))
    step = max(1, -(-(ends[1] - ends[0]) // 6))
    ticks = [
        2.0**k for k in range(ends[0], ends[1] + 1, step) if low <= 2.0**k * (1 + 1e-9) and 2.0**k <= high * (1 + 1e-9)
    ]
    ax.xaxis.set_major_locator(FixedLocator(ticks))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xticks(ticks, [labels.number(tick) if tick >= 1 else f"1/{labels.number(1 / tick)}" for tick in ticks])
    ax.set_xlim(low, high)
