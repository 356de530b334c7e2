"""The largest entries."""

from dataclasses import dataclass

import numpy as np

from fedatlas.federation.channels.base import Coded, Draws, Shapes
from fedatlas.federation.channels.sparse import Sparse


@dataclass(frozen=True, kw_only=True)
class TopK(Sparse):
    """Top-k (Alistarh et al. 2018) sends the k entries of largest absolute value; alpha = k/d.

    Of equal entries those of lower index are sent first.
    """

    name = "top-k"

    def code(self, rows: np.ndarray, rng: Draws, shapes: Shapes = ()) -> Coded:
        d = rows.shape[1]
        k, size = self.kept(d), np.abs(rows)
        # The k-th largest value is the same on all machines; the order in which a partition leaves equal ones is not.
        bound = np.partition(size, d - k, axis=1)[:, d - k, None]
        larger, equal = size > bound, size == bound
        missing = k - larger.sum(axis=1, keepdims=True)
        keep = larger | (equal & (equal.cumsum(axis=1) <= missing))
        return Coded(np.where(keep, rows, 0), self.bits(rows))

    def alpha(self, d: int) -> float:
        return self.kept(d) / d
