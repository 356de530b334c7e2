"""Uniform client sampling."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fedatlas.errors import UserError
from fedatlas.federation.participation import Participants, Participation
from fedatlas.federation.streams import stream
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class Uniform(Participation):
    """In each round, ``count`` clients are drawn uniformly without replacement (McMahan et al. 2017)."""

    name = "uniform"
    count: int = option(doc="clients that are drawn in each round, at most all of them", unit="clients", low=1)

    def bind(self, problem: Any, clients: int, seed: int) -> Participants:
        def active(t: int) -> np.ndarray:
            ids = stream(seed, "participation", t).choice(clients, self.count, replace=False)
            return np.sort(ids)

        return Participants(active, lambda t: np.full(clients, self.count / clients))

    def validate_clients(self, clients: int) -> None:
        """Raise UserError if there are fewer clients than are drawn."""
        if self.count > clients:
            raise UserError(
                f"{self.title()}: count is {self.count}; it must be a whole number between 1 and clients = {clients}"
            )
