"""The grid."""

import math
from dataclasses import dataclass

import numpy as np

from fedatlas.federation.topologies.base import Topology, symmetric


@dataclass(frozen=True, kw_only=True)
class Grid(Topology):
    """A grid whose rows are equally long and which is as near to a square as the number of clients allows.

    Where the number is prime, it is a path.
    """

    name = "grid"

    def adjacency(self, clients: int) -> np.ndarray:
        width = next(w for w in range(math.isqrt(clients), 0, -1) if clients % w == 0)
        ids = np.arange(clients)
        right, down = ids[ids % width < width - 1], ids[ids < clients - width]
        return symmetric(clients, np.concatenate([right, down]), np.concatenate([right + 1, down + width]))
