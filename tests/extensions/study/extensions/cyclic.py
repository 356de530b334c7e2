from dataclasses import dataclass
from typing import Any

import numpy as np

from fedatlas import Participants, Participation, option


@dataclass(frozen=True, kw_only=True)
class Cyclic(Participation):
    """In each round the next ``count`` clients take part, in the order of their numbers."""

    name = "cyclic"

    count: int = option(1, doc="clients that take part in a round", unit="clients", low=1)

    def bind(self, problem: Any, clients: int, seed: int) -> Participants:
        from shared.rounds import next_clients

        def active(t: int) -> np.ndarray:  # sorted ids
            return next_clients(t, self.count, clients)

        return Participants(active, lambda t: np.isin(np.arange(clients), active(t)).astype(float))
