"""Samples of each label at each client."""

from dataclasses import dataclass

from fedatlas.results.figures.base import Drawing, Figure
from fedatlas.results.figures.description import Heatmap
from fedatlas.results.figures.figure_data import FigureData


@dataclass(frozen=True, kw_only=True)
class Partition(Figure):
    """Samples of each label that every client holds: a heat map for each partition of the experiment."""

    name = "partition"
    draws_results = False

    @property
    def inputs(self) -> frozenset[str]:
        return frozenset({"partitions"})

    def draw(self, data: FigureData) -> Drawing:
        import pandas as pd

        partitions = data.partitions or []
        numbers = pd.concat(
            [
                counts.rename_axis(index="client", columns="label")
                .stack()
                .rename("samples")
                .reset_index()
                .assign(panel=title)
                for title, counts in partitions
            ],
            ignore_index=True,
        )
        if len(partitions) == 1:
            numbers = numbers.drop(columns="panel")
        sizes = sorted({len(counts) for _, counts in partitions})
        description = Heatmap(
            x=("client", f"client ({' or '.join(map(str, sizes))} in all)"),
            y=("label", "label"),
            value=("samples", "samples"),
        )
        return Drawing(numbers, description)
