"""Cost models: the time of rounds on clients of given speed. A module here that defines a model is found by itself."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fedatlas.federation.streams import stream
from fedatlas.registry.kinds import Family, Kind
from fedatlas.registry.options import option

OPERATIONS, BITS = "operations/s", "bit/s"
QUANTITIES = ("compute", "down", "up")  # each has its own stream, by its index


class Rates(NamedTuple):
    """Rates of clients, (clients,) each.

    Attributes:
        compute: Operations in a second.
        down: Rate of receiving, in bit/s.
        up: Rate of sending, in bit/s.
    """

    compute: np.ndarray
    down: np.ndarray
    up: np.ndarray


@dataclass(frozen=True, kw_only=True)
class CostModel(Kind):
    """Speeds at which clients compute and communicate.

    A client's rate is the model's rate times exp(spread z). z is a standard normal number that depends on the model's
    seed, the quantity and the client alone. So a client has the same rates in all runs, whatever their algorithm, seed
    and number of clients.
    """

    compute: float = option(doc="operations that the median client computes in a second", unit=OPERATIONS, above=0)
    down: float = option(doc="rate at which the median client receives", unit=BITS, above=0)
    up: float = option(doc="rate at which the median client sends", unit=BITS, above=0)
    latency: float = option(0.0, doc="time of an exchange besides that of its numbers: a round trip", unit="s", low=0)
    overhead: float = option(0.0, doc="time of a gradient besides that of its operations", unit="s", low=0)
    compute_spread: float = option(
        0.0, doc="standard deviation of the logarithm of compute over clients; 0: all clients are alike", low=0
    )
    down_spread: float = option(0.0, doc="the same of down", low=0)
    up_spread: float = option(0.0, doc="the same of up", low=0)
    seed: int = option(0, doc="of the clients' rates", low=0)
    number_bytes: int | None = option(
        None, doc="bytes of a number that is sent; by default as the run computed, 4 or 8", unit="bytes", low=1
    )
    operations: float | None = option(
        None, doc="operations of the gradient of one sample; by default counted in the problem", above=0
    )

    def rates(self, clients: int) -> Rates:
        """Return the rates of clients 0, 1, ... clients - 1."""

        def draw(index: int, name: str) -> np.ndarray:
            # a second index: without one, the purpose is that of the probabilities of a run
            z = stream(self.seed, "availability", index).standard_normal(clients)
            return np.asarray(getattr(self, name) * np.exp(getattr(self, f"{name}_spread") * z))

        return Rates(*(draw(index, name) for index, name in enumerate(QUANTITIES)))


COST_MODELS: Family[CostModel] = Family("cost model", __name__, CostModel)
