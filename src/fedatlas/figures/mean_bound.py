"""The mean squared gradient norm that FedSpeed's Theorem 4.4 bounds, and the bound."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from fedatlas import labels
from fedatlas.figures import layout
from fedatlas.figures.base import Panelled
from fedatlas.figures.sheet import Sheet
from fedatlas.options import option

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Bounds = Literal["4.4", "4.4 scaled", "4.4 with noise"]
LINES: dict[str, object] = {"4.4": (0, (1, 1.6)), "4.4 scaled": (0, (4, 2)), "4.4 with noise": (0, (6, 2, 1, 2))}


@dataclass(frozen=True, kw_only=True)
class MeanBound(Panelled):
    """What FedSpeed's Theorem 4.4 bounds against rounds T, mean and range over seeds, and its bounds."""

    name = "mean_bound"

    theorems: list[Bounds] = option(doc="the bounds that are drawn", filled=True, distinct=True)

    def draw(self, sheet: Sheet) -> "Figure":
        from matplotlib.lines import Line2D
        from matplotlib.ticker import NullFormatter

        from fedatlas.theory.fedspeed_bound import runs

        panels = sheet.panels(sheet.rows(sheet.curves))
        figure, axes = layout.grid(len(panels), share_x=False)
        for ax, (title, part) in zip(axes, panels, strict=True):
            ax.set_title(title)
            ax.set_xscale("log")
            ax.xaxis.set_minor_formatter(NullFormatter())
            ax.set_yscale("log")
            for id, look in sheet.styles.items():
                rows = part[part["algorithm"] == id]
                for name in self.theorems if len(rows) else []:
                    found = runs(sheet.view, name, id, rows)
                    bound = found.bound.mean(axis=0)
                    ax.plot(found.rounds, bound, color=layout.NOTE_COLOUR, linestyle=LINES[name], linewidth=1.3)
                if len(rows):
                    low, high = found.measured.min(axis=0), found.measured.max(axis=0)
                    ax.fill_between(found.rounds, low, high, color=look.colour, alpha=0.16, linewidth=0)
                    at = np.unique(np.geomspace(1, len(found.rounds), 9).astype(int) - 1).tolist()
                    ax.plot(found.rounds, found.measured.mean(axis=0), color=look.colour, marker=look.marker,
                            markersize=look.size, markevery=at)  # fmt: skip
        layout.label(axes, labels.COSTS["rounds"], r"mean of $|\nabla F(z^t)|^2$")
        handles = []
        for name in self.theorems:
            handles.append(Line2D([], [], color=layout.NOTE_COLOUR, linestyle=LINES[name], linewidth=1.3))
            handles[-1].set_label(f"bound of Theorem {name}")
        layout.legend(figure, sheet, handles)
        layout.foot(figure, sheet.note())
        return figure
