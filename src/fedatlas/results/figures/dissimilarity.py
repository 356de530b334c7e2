"""How similar clients are, as a table: the constants of Jiang, Rodomanov & Stich (2024)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fedatlas.experiments import labels
from fedatlas.results.figures import layout
from fedatlas.results.figures.base import Drawing, Figure
from fedatlas.results.figures.figure_data import FigureData
from fedatlas.results.figures.text_fitting import width

if TYPE_CHECKING:
    pass

HEADS = {"L": "$L$", "delta_A": "$\\delta_A$", "delta_B": "$\\delta_B$", "ratio": "$\\delta_B / L$"}
WIDTH, ROW = 1.0, 0.27  # inches of a column and of a row


@dataclass(frozen=True, kw_only=True)
class Dissimilarity(Figure):
    """Smoothness L of the clients, dissimilarity delta_A and delta_B of their Hessians, and delta_B / L, by problem.

    On data delta_A and delta_B are estimates from below, at the start and at the optimum, and L is an upper bound.
    """

    name = "dissimilarity"
    draws_results = False

    @property
    def inputs(self) -> frozenset[str]:
        return frozenset({"dissimilarities"})

    def draw(self, data: FigureData) -> Drawing:
        import pandas as pd

        if not data.dissimilarities:
            raise data.error("no problem is left to show")
        rows: list[dict[str, Any]] = [
            {"problem": title, "L": c.L, "delta_A": c.delta_A, "delta_B": c.delta_B, "ratio": c.delta_B / c.L}
            for title, c in data.dissimilarities
        ]
        numbers = pd.DataFrame(rows)
        first = 0.35 + max(width(labels.mathematical(title), 9.5) for title, _ in data.dissimilarities)
        size = (first + WIDTH * len(HEADS), ROW * (len(rows) + 1) + 0.35)
        figure = layout.blank(size, fixed=True)
        ax = figure.subplots()
        ax.set_axis_off()
        ax.set(xlim=(0, size[0]), ylim=(ROW * (len(rows) + 1), 0))
        for number, (name, head) in enumerate(HEADS.items()):
            x = first + WIDTH * (number + 0.5)
            ax.text(x, ROW / 2, head, ha="center", va="center")
            for at, row in enumerate(rows, start=1):
                ax.text(x, ROW * (at + 0.5), labels.number(row[name]), ha="center", va="center")
        for at, row in enumerate(rows, start=1):
            ax.text(0.02, ROW * (at + 0.5), labels.mathematical(row["problem"]), va="center")
        ax.axhline(ROW, color="#444444", linewidth=0.9)
        return Drawing(figure, numbers)
