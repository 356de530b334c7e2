"""Samples of each label at each client."""

from dataclasses import dataclass

from fedatlas.results.figures import Drawing, Figure, FigureData
from fedatlas.results.figures.description import Heatmap


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
        titles, counts = zip(*partitions, strict=True)
        parts = pd.concat([part.stack() for part in counts], keys=titles, names=["panel", "client", "label"])
        numbers = parts.rename("samples").reset_index()
        if len(partitions) == 1:
            numbers = numbers.drop(columns="panel")
        description = Heatmap(x=("client", "client"), y=("label", "label"), value=("samples", "samples"))
        return Drawing(numbers, description)
