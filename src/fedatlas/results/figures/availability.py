"""Probabilities of clients to take part in each round, and the active clients."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fedatlas.results.figures.base import Drawing, FilteredFigure
from fedatlas.results.figures.description import Heatmap
from fedatlas.results.figures.figure_data import FigureData

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True, kw_only=True)
class Availability(FilteredFigure):
    """Every client's probability to be available by round, and who was, for each participation of the experiment.

    Clients are sorted by their mean probability, or by how often they were available where that is unknown.
    """

    name = "availability"
    draws_results = False

    @property
    def inputs(self) -> frozenset[str]:
        return frozenset({"availability"})

    def draw(self, data: FigureData) -> Drawing:
        import pandas as pd

        entries = data.availability or []
        known = [entry for entry in entries if entry[1] is not None]
        parts = [_cells(f"{title}: probability", np.asarray(p), active) for title, p, active in known]
        parts += [_cells(f"{title}: available", active.to_numpy(), active, p) for title, p, active in entries]
        description = Heatmap(
            x=("round", "round $t$"),
            y=("place", "clients, most active on top"),
            value=("value", "probability $p_i^t$, or availability"),
            columns=len(entries) if len(known) == len(entries) else None,
            note="Dark where a client was available, first seed.",
        )
        return Drawing(pd.concat(parts, ignore_index=True), description)


def _cells(
    title: str, values: np.ndarray, active: "DataFrame", probabilities: "np.ndarray | None" = None
) -> "DataFrame":
    """Return the cells of a panel, a row for each client and round, in the order of the clients' activity.

    Args:
        title: Title of the panel.
        values: Value of each round and client.
        active: Who was available; the columns name the clients.
        probabilities: By which clients are sorted; by default the values.
    """
    import pandas as pd

    order = np.argsort((values if probabilities is None else probabilities).mean(axis=0), kind="stable")
    clients, rounds = active.columns.to_numpy()[order], np.arange(len(values))
    return pd.DataFrame(
        {
            "panel": title,
            "place": np.repeat(np.arange(len(clients)), len(rounds)),
            "client": np.repeat(clients, len(rounds)),
            "round": np.tile(rounds, len(clients)),
            "value": np.asarray(values[:, order], float).T.ravel(),
        }
    )
