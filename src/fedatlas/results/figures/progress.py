"""How the runs of each problem get on: small multiples with a panel for each problem."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fedatlas.errors import UserError
from fedatlas.experiments.selection import select_rows
from fedatlas.registry.options import option
from fedatlas.results.comparing.pairwise import standings
from fedatlas.results.comparing.ranking import rank_algorithms
from fedatlas.results.figures import layout
from fedatlas.results.figures.base import Drawing
from fedatlas.results.figures.browser_chart import Chart, lines, plain
from fedatlas.results.figures.comparison_figure import SingleTargetFigure, titles
from fedatlas.results.figures.convergence import average
from fedatlas.results.figures.figure_data import FigureData
from fedatlas.results.figures.style import GREY

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

    from fedatlas.results.comparing.targets import Benchmark

LOWEST = 1e-4  # shares below it are drawn at it


@dataclass(frozen=True, kw_only=True)
class Progress(SingleTargetFigure):
    """The share of the way to the best value that is left, against a cost, on each problem: a panel for each.

    A share is that of the difference between the metric's first and best value, in the mean over seeds. The algorithms
    that are best over all problems have colours, all others are grey. A panel is headed by the algorithm that attains
    the target at the least cost, as in the kind ``loss_to_best``; the dotted line is the target.
    """

    name = "progress"

    named: int = option(6, doc="how many algorithms have a colour: the best over all problems", low=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.scores:
            raise UserError(f"{self.title()}: it shows runs, and no scores; leave out scores")

    def draw(self, data: FigureData) -> Drawing:
        board, ends = self.numbers(data), self.board(data, [1.0, 0.0]).targets
        order = [board.algorithms[a] for a in rank_algorithms(board)]
        bright = [id for id in data.styles if id in order[: self.named]]
        costs = self.against(data.curves)
        heads = titles(data, board) if len(board.problems) > 1 else [""]
        figure, axes = layout.grid(len(board.problems), share_x=False)
        shown, cut, winners = [], False, {}
        for at, (ax, head) in enumerate(zip(axes, heads, strict=True)):
            point = dict(zip(data.view.axes, board.problems[at], strict=True))
            rows = select_rows(select_rows(data.curves, self.where), point)
            best = self._best(data, board, at)
            winners[plain(head)] = f"best: {data.names[best]}" if best else "the target is not attained"
            ax.set_title(f"{head}\n{winners[plain(head)]}".strip(), fontsize=9)
            for id in [*(id for id in reversed(order) if id not in bright), *bright]:
                curve = _shares(rows[rows["algorithm"] == id], self.cost, data.y, list(costs), *ends[at])
                if len(curve):
                    shown.append((head, id, curve))
                    cut |= bool((curve["mean"] < LOWEST).any())
                    _draw(ax, data, id, curve[self.cost], curve["mean"], id in bright)
            ax.axhline(self.share, color=layout.NOTE_COLOUR, linestyle=layout.DOTS, linewidth=1)
            ax.set_yscale("log")
            ax.set_xlim(left=0)
        axes[0].set_ylim(LOWEST / 1.6, 3)
        layout.label(axes, self.words, "share of the way that is left")
        layout.legend(figure, _only(data, bright))
        notes = [f"Lines: mean over {data.counted_seeds}. Grey: all others.", self.told(data, [self.share])]
        notes += ["Values below 10⁻⁴ are raised to it."] if cut else []
        layout.foot(figure, layout.wrapped(figure.get_figwidth(), *notes))
        numbers = data.tidy(shown)
        chart = Chart(
            x=costs,
            y=("mean", "share of the way to the best value that is left"),
            lines=lines(data.styles, data.names, set(data.styles) - set(bright)),
            range=("low", "high"),
            logy=True,
            heads={title: plain(told) for title, told in winners.items()},
            limits=axes[0].get_ylim(),
            note=f"Mean over {data.counted_seeds}; range: smallest to largest. {self.told(data, [self.share])}",
        )
        return Drawing(figure, numbers, chart)

    def _best(self, data: FigureData, board: "Benchmark", at: int) -> str:
        """The algorithm that attains the target of a problem at the least cost; nothing if none attains it."""
        found = zip(board.algorithms, standings(board, at, level=self.level), strict=True)
        return next((id for id, one in found if one.state == "best"), "")


def _shares(rows: "DataFrame", cost: str, metric: str, costs: Sequence[str], first: float, best: float) -> "DataFrame":
    """Shares of the way that are left, by round: mean and range over seeds, and every cost. rows: of an algorithm."""
    if rows.empty:
        return rows
    share = (rows[metric] - best) / (first - best)
    curve = average(rows.assign(share=share), cost, "share", costs).reset_index(drop=True)
    return curve.drop(columns="x").rename(columns={"y": "mean", "count": "seeds"})


def _draw(ax: "Axes", data: FigureData, id: str, x: "np.ndarray", y: "np.ndarray", bright: bool) -> None:
    look, shares = data.styles[id], np.clip(np.asarray(y, float), LOWEST, 10)
    if not bright:
        ax.plot(x, shares, color=GREY, linewidth=0.6, alpha=0.45, zorder=1.5)
        return
    step = max(1, len(shares) // 4)
    start = list(data.styles).index(id) % step
    ax.plot(x, shares, color=look.colour, linestyle=look.line, marker=look.marker, markersize=look.size - 1.6,
            markevery=(start, step), linewidth=1.4, zorder=look.layer)  # fmt: skip


def _only(data: FigureData, ids: Sequence[str]) -> FigureData:
    """A data of some algorithms alone, for the legend."""
    from copy import copy

    one = copy(data)
    one.styles = {id: data.styles[id] for id in ids}
    return one
