"""Table of the similarity of clients: the constants of Jiang, Rodomanov & Stich (2024)."""

from dataclasses import dataclass
from typing import Any

from fedatlas.experiments import labels
from fedatlas.results.figures import layout
from fedatlas.results.figures.base import Drawing, Figure
from fedatlas.results.figures.figure_data import FigureData
from fedatlas.results.figures.text_fitting import text_width

HEADINGS = {"L": "$L$", "delta_A": "$\\delta_A$", "delta_B": "$\\delta_B$", "ratio": "$\\delta_B / L$"}
COLUMN, ROW = 1.0, 0.27  # inches of a column and of a row


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
        first = 0.35 + max(text_width(labels.mathematical(title), 9.5) for title, _ in data.dissimilarities)
        size = (first + COLUMN * len(HEADINGS), ROW * (len(rows) + 1) + 0.35)
        figure = layout.empty_figure(size, fixed=True)
        ax = figure.subplots()
        ax.set_axis_off()
        ax.set(xlim=(0, size[0]), ylim=(ROW * (len(rows) + 1), 0))
        for column, (name, heading) in enumerate(HEADINGS.items()):
            x = first + COLUMN * (column + 0.5)
            ax.text(x, ROW / 2, heading, ha="center", va="center")
            for line, row in enumerate(rows, start=1):
                ax.text(x, ROW * (line + 0.5), labels.number(row[name]), ha="center", va="center")
        for line, row in enumerate(rows, start=1):
            ax.text(0.02, ROW * (line + 0.5), labels.mathematical(row["problem"]), va="center")
        ax.axhline(ROW, color="#444444", linewidth=0.9)
        return Drawing(figure, pd.DataFrame(rows))
