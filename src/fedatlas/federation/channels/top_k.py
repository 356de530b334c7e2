"""The largest entries."""

from dataclasses import dataclass

import numpy as np

from fedatlas.federation.arrays import top_k
from fedatlas.federation.channels import Coded, Draws
from fedatlas.federation.channels.sparse import Sparse


@dataclass(frozen=True, kw_only=True)
class TopK(Sparse):
    """Top-k (Alistarh et al. 2018) sends the k entries of largest absolute value; alpha = k/d.

    Of equal entries those of lower index are sent first.
    """

    name = "top-k"

    def code(self, rows: np.ndarray, rng: Draws) -> Coded:
        return Coded(top_k(rows, self.k(rows.shape[1])), self.bits(rows))

    def alpha(self, d: int) -> float:
        return self.k(d) / d
