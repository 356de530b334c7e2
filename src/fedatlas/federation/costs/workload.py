"""The time that a client of a cost model takes for its exchanges of a round."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fedatlas.federation.costs import CostModel, Rates

if TYPE_CHECKING:
    from fedatlas.federation.engine.exchanges import Amount, Exchange


@dataclass(frozen=True)
class Workload:
    """The meaning of the exchanges of a run.

    Attributes:
        vector: Bytes of a vector.
        operations: Operations of the gradient of one sample.
        sizes: Samples of each client's full gradient, (clients,).
        batch: Samples of a minibatch, or None where all gradients are full.
    """

    vector: float
    operations: float
    sizes: np.ndarray
    batch: int | None

    def seconds(self, model: CostModel, rates: Rates, profile: "Sequence[Exchange]", members: np.ndarray) -> np.ndarray:
        """Return the time of each of some clients in a round, (m,).

            exchanges latency + down / down_i + up / up_i + gradients overhead + samples c / compute_i

        down and up are bits: of coded messages as they were counted, else those of the vectors. c are the operations of
        a sample. A client waits for the latency of an exchange if it sends something in it.

        Args:
            model: Cost model of the clients.
            rates: Rates of all clients.
            profile: Exchanges of the round.
            members: Ids of the clients, (m,), ascending.
        """
        times = np.zeros(len(members))
        for exchange in profile:
            down, up, rate, sizes = (v[members] for v in (rates.down, rates.up, rates.compute, self.sizes))
            sent = np.asarray(exchange.up)
            gradients, samples = exchange.work(sizes, self.batch)
            work = model.latency * (sent > 0) + self._bits(exchange.up, exchange.bits_up) / up
            work = work + gradients * model.overhead + samples * self.operations / rate
            times += self._bits(exchange.down, exchange.bits_down) / down
            times += work if exchange.client is None else work * (members == exchange.client)
        return times

    def _bits(self, vectors: "Amount", counted: "Amount | None") -> np.ndarray:
        """Return the bits of messages of so many vectors, as they were counted or else of numbers that are whole."""
        return 8 * self.vector * np.asarray(vectors) if counted is None else np.asarray(counted)
