"""Topologies: graphs over which clients of decentralised algorithms exchange vectors.

A module here that defines a named `Topology` is found by itself.
"""

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from fedatlas.federation.topologies.mixing import Mixing, metropolis
from fedatlas.registry.kinds import Family, Kind


@dataclass(frozen=True, kw_only=True)
class Topology(Kind):
    """An undirected graph of the clients. Neighbours exchange vectors."""

    @abstractmethod
    def adjacency(self, clients: int) -> np.ndarray:
        """Return whether two clients are neighbours: symmetric booleans (clients, clients), False on the diagonal.

        Raises:
            UserError: If the graph is not connected.
        """

    def mixing(self, clients: int) -> Mixing:
        """Return the `Mixing` over the graph with Metropolis weights. Raises UserError as `adjacency` does."""
        return Mixing(metropolis(self.adjacency(clients)))


TOPOLOGIES: Family[Topology] = Family("topology", __name__, Topology)
