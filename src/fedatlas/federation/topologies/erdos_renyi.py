"""Random graphs."""

from dataclasses import dataclass

import numpy as np

from fedatlas.errors import UserError
from fedatlas.federation.streams import stream
from fedatlas.federation.topologies.base import Topology, connected
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class ErdosRenyi(Topology):
    """Each link exists with probability p, independently of the others."""

    name = "erdos-renyi"

    p: float = option(0.5, doc="probability of a link", above=0, high=1)
    seed: int = option(0, doc="seed of the graph", low=0)

    def adjacency(self, clients: int) -> np.ndarray:
        upper = np.triu(stream(self.seed, "problem").random((clients, clients)) < self.p, 1)
        adjacency = upper | upper.T
        if not connected(adjacency):
            raise UserError(
                f"an Erdos-Renyi graph of {clients} clients with p = {self.p} is not connected: raise p or change "
                "the seed"
            )
        return adjacency
