"""The complete graph."""

from dataclasses import dataclass

import numpy as np

from fedatlas.federation.topologies import Topology


@dataclass(frozen=True, kw_only=True)
class Complete(Topology):
    """All clients are neighbours of each other."""

    name = "complete"

    def adjacency(self, clients: int) -> np.ndarray:
        return ~np.eye(clients, dtype=bool)
