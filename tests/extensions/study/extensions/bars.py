from dataclasses import dataclass
from typing import TYPE_CHECKING

from extensions.max_norm import MAX_NORM

from fedatlas.experiments import labels
from fedatlas.registry.options import option
from fedatlas.results.figures import layout
from fedatlas.results.figures.base import Chosen
from fedatlas.results.figures.sheet import Sheet

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class Bars(Chosen):
    """The score of each algorithm with its chosen values, as a bar."""

    name = "bars"

    width: float = option(0.8, doc="width of a bar; bars of width 1 touch", above=0, high=1)

    def draw(self, sheet: Sheet) -> "Figure":
        rows = sheet.rows(sheet.table[sheet.table["chosen"]])
        figure, (ax,) = layout.grid(1)
        ax.set_title(MAX_NORM.words)
        for id, look in sheet.styles.items():
            score = rows.loc[rows["algorithm"] == id, "score"]
            ax.bar(sheet.names[id], score, self.width, color=look.colour)
        layout.label([ax], "algorithm", labels.quantity(sheet.y, sheet.view.select.statistic))
        return figure
