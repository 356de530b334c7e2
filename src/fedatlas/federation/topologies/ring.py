"""The ring."""

from dataclasses import dataclass

import numpy as np

from fedatlas.federation.topologies import Topology


@dataclass(frozen=True, kw_only=True)
class Ring(Topology):
    """Each client has two neighbours."""

    name = "ring"

    def adjacency(self, clients: int) -> np.ndarray:
        following = np.roll(np.eye(clients, dtype=bool), 1, axis=1)
        return (following | following.T) & ~np.eye(clients, dtype=bool)
