"""Table of the similarity of clients: the constants of Jiang, Rodomanov & Stich (2024)."""

from dataclasses import dataclass
from typing import Any

from fedatlas.experiments import labels
from fedatlas.results.figures.base import Drawing, Figure
from fedatlas.results.figures.description import Cell, TextTable
from fedatlas.results.figures.figure_data import FigureData

HEADINGS = {"L": "$L$", "delta_A": "$\\delta_A$", "delta_B": "$\\delta_B$", "ratio": "$\\delta_B / L$"}


@dataclass(frozen=True, kw_only=True)
class Dissimilarity(Figure):
    """Smoothness L of the clients, dissimilarity delta_A and delta_B of their Hessians, and delta_B / L, by problem.

    On data delta_A and delta_B are estimates from below, at the start and at the optimum, and L is an upper bound.
    """

    name = "dissimilarity"
    draws_results = False
    is_table = True

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
        table = TextTable(
            heads=[[(heading, 1) for heading in HEADINGS.values()]],
            blocks=[("", [((row["problem"],), _cells(row)) for row in rows])],
        )
        return Drawing(pd.DataFrame(rows), table)


def _cells(row: dict[str, Any]) -> list[Cell]:
    return [Cell(labels.number(row[name])) for name in HEADINGS]
