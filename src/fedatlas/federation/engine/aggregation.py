"""Means of what clients send, added up block by block in the order of the clients."""

import numpy as np

from fedatlas.federation import arrays
from fedatlas.federation.arrays import Array, State
from fedatlas.federation.engine.channels import Sent


class Aggregate:
    """What a group of clients has sent in an exchange.

    Args:
        ids: Clients of the group, (m,), in the order in which their blocks are added.
        keep: Whether all rows are kept, since they are mixed over links between clients.

    Attributes:
        gathers: Names of what the server gets a row of from each client.
        notes: Names of what is sent for evaluation only.
        numbers: Numbers of a client's message, without notes.
    """

    def __init__(self, ids: np.ndarray, keep: bool) -> None:
        self.ids, self._keep = ids, keep
        self._message = State()  # of a block, whose class the mean has
        self.gathers: tuple[str, ...] = ()
        self.notes: tuple[str, ...] = ()
        self.numbers = 0
        self._totals: dict[str, Array] = {}
        self._rows: dict[str, list[tuple[Array, Array]]] = {}  # as they arrive, and as the clients have them
        self._weight: Array | None = None
        self._bits: list[np.ndarray | None] = []

    def add(self, sent: Sent, weights: Array | None) -> None:
        """Add what a block has sent.

        Args:
            sent: What the clients of the block have sent.
            weights: Their weights, (m, 1), or None for equal weights.
        """
        self._message, self.gathers, self.notes = sent.rows, sent.gathers, sent.notes
        self.numbers = 0
        for name, value in sent.rows.items():
            self.numbers += 0 if name in sent.notes else value.shape[-1]
            if name in sent.gathers or (self._keep and name not in sent.notes):
                self._rows.setdefault(name, []).append((value, getattr(sent.own, name)))
            if name not in sent.gathers:
                weighted = value if weights is None else weights * value
                self._totals[name] = arrays.add_rows(self._totals.get(name), weighted)
        if weights is not None:
            self._weight = arrays.add_rows(self._weight, weights)
        self._bits.append(sent.bits)

    @property
    def mean(self) -> State:
        """The mean over the group; of what is gathered, rows (m, d) in ascending order of the clients' ids."""
        weight = len(self.ids) if self._weight is None else self._weight
        means = {name: total / weight for name, total in self._totals.items()}
        return self._message.rebuild(means | {name: self._sorted(name)[0] for name in self.gathers})

    @property
    def weight(self) -> float:
        """Sum of the clients' weights."""
        return len(self.ids) if self._weight is None else float(self._weight[0])

    @property
    def bits(self) -> np.ndarray | None:
        """Bits of each client, (m,) in the order of ``ids``, or None where all numbers were sent as they are."""
        blocks = [block for block in self._bits if block is not None]
        return np.concatenate(blocks) if blocks else None

    @property
    def rows(self) -> dict[str, tuple[Array, Array]]:
        """All rows in ascending order of the clients' ids, as they arrive and as the clients have them."""
        return {name: self._sorted(name) for name in self._rows}

    def _sorted(self, name: str) -> tuple[Array, Array]:
        order = np.argsort(self.ids)
        arrived, own = (arrays.concatenate(part)[order] for part in zip(*self._rows[name], strict=True))
        return arrived, own
