"""The active clients of each round."""

from dataclasses import dataclass

import numpy as np

from fedatlas.results.figures import Drawing, FigureData, FilteredFigure
from fedatlas.results.figures.description import Heatmap


@dataclass(frozen=True, kw_only=True)
class Availability(FilteredFigure):
    """The clients that were available in each round, for each participation of the experiment.

    Clients are sorted by how often they were available.
    """

    name = "availability"
    draws_results = False

    @property
    def inputs(self) -> frozenset[str]:
        return frozenset({"availability"})

    def draw(self, data: FigureData) -> Drawing:
        import pandas as pd

        parts = []
        for title, active in data.availability or []:
            order = np.argsort(active.to_numpy().mean(axis=0), kind="stable")
            part = active.iloc[:, order].melt(var_name="client", value_name="value")
            places, rounds = np.divmod(np.arange(len(part)), len(active))
            parts.append(part.assign(panel=title, place=places, round=rounds, value=part["value"].astype(float)))
        description = Heatmap(
            x=("round", "round $t$"),
            y=("place", "clients, most active on top"),
            value=("value", "availability"),
            note="Dark where a client was available, first seed.",
        )
        return Drawing(pd.concat(parts, ignore_index=True), description)
