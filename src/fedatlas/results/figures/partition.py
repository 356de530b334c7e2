"""Samples of each label at each client."""

from dataclasses import dataclass
from textwrap import shorten
from typing import TYPE_CHECKING

from fedatlas.results.figures.base import Drawing, Figure
from fedatlas.results.figures.description import Heatmap
from fedatlas.results.figures.figure_data import FigureData

if TYPE_CHECKING:
    from pandas import DataFrame

LONGEST = 24  # letters of a client's name


@dataclass(frozen=True, kw_only=True)
class Partition(Figure):
    """Samples of each label that every client holds: a heat map for each partition of the experiment.

    Where data sets have different numbers of samples, colours are percent of all samples.
    """

    name = "partition"
    draws_results = False

    @property
    def inputs(self) -> frozenset[str]:
        return frozenset({"partitions"})

    def draw(self, data: FigureData) -> Drawing:
        import pandas as pd

        partitions = data.partitions or []
        percent = len({int(counts.to_numpy().sum()) for _, counts in partitions}) > 1
        numbers = pd.concat([_numbers(*entry) for entry in partitions], ignore_index=True)
        if len(partitions) == 1:
            numbers = numbers.drop(columns="panel")
        sizes = sorted({len(counts) for _, counts in partitions})
        description = Heatmap(
            x=("client", f"client ({' or '.join(map(str, sizes))} in all)"),
            y=("label", "label"),
            value=("percent", "percent of samples") if percent else ("samples", "samples"),
            columns=min(2, len(partitions)),
        )
        return Drawing(numbers, description)


def _numbers(title: str, counts: "DataFrame") -> "DataFrame":
    """Return the counts (clients, classes) of a partition, a row for each client and label."""
    rows = counts.rename_axis(index="client", columns="label").stack().rename("samples").reset_index()
    names = {name: shorten(str(name), LONGEST, placeholder="…") for name in counts.index}
    if len(set(names.values())) == len(names):
        rows["client"] = rows["client"].map(names)
    return rows.assign(panel=title, percent=100 * rows["samples"] / rows["samples"].sum())
