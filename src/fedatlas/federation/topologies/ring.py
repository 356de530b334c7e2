"""The ring."""

from dataclasses import dataclass

import numpy as np

from fedatlas.federation.topologies.base import Topology, symmetric


@dataclass(frozen=True, kw_only=True)
class Ring(Topology):
    """Each client has two neighbours."""

    name = "ring"

    def adjacency(self, clients: int) -> np.ndarray:
        ids = np.arange(clients)
        return symmetric(clients, ids, (ids + 1) % clients)
