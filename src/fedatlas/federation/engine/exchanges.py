"""Records of the exchanges of a round: who sent and computed what, noted as it happens."""

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class Exchange:
    """One exchange between server and clients: that of the hook ``before``, or that of ``client``.

    Vectors are counted in units of the model's dimension d; those for evaluation alone are left out.

    Attributes:
        hook: Hook of the algorithm in which the clients computed.
        ids: Clients that took part, (m,).
        down: Vectors that each of them received, (m,).
        up: Vectors that each of them sent, (m,).
        gradients: Gradients that each of them computed, (m,).
        samples: Samples of these gradients, (m,).
    """

    hook: str
    ids: np.ndarray
    down: np.ndarray
    up: np.ndarray
    gradients: np.ndarray
    samples: np.ndarray


class ClientWork:
    """Gradients and samples that each client of a block computes: whole numbers, so sums do not depend on the blocks.

    Args:
        m: Number of clients of the block.
        merged: Number of clients whose minibatches each client of the block holds. Each of them would compute a full
            gradient by itself.
    """

    def __init__(self, m: int, merged: int = 1) -> None:
        self.m, self.merged = m, merged
        self._gradients, self._samples = 0, 0  # of each client; arrays where clients differ

    def count(self, batch: Any, calls: int = 1, full: bool = False) -> None:
        """Count calls of an oracle.

        Args:
            batch: Oracle, whose ``size`` is the number of samples of each client.
            calls: Number of gradients that the call stands for.
            full: Whether the gradients are full.
        """
        self._gradients += calls
        self._samples = self._samples + (batch.size * self.merged if full else batch.size)

    @property
    def gradients(self) -> np.ndarray:
        """Gradients of each client, (m,)."""
        return np.full(self.m, self._gradients)

    @property
    def samples(self) -> np.ndarray:
        """Samples of each client's gradients, (m,)."""
        return np.broadcast_to(self._samples, self.m)
