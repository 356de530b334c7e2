"""Random entries."""

from dataclasses import dataclass

import numpy as np

from fedatlas.federation.channels import Coded, Draws
from fedatlas.federation.channels.sparse import Sparse
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class RandK(Sparse):
    """Rand-k (Stich et al. 2018) sends k entries, drawn uniformly; omega = d/k - 1, or alpha = k/d if not scaled.

    The indices are counted, though a receiver that knows the sender's seed could draw them itself.
    """

    name = "rand-k"
    random = True
    scaled: bool = option(True, doc="whether the entries are multiplied by d/k, so that the message is unbiased")

    def code(self, rows: np.ndarray, rng: Draws) -> Coded:
        m, d = rows.shape
        k = self.k(d)
        values = np.zeros_like(rows)
        for i in range(m):
            entries = rng(i).choice(d, k, replace=False, shuffle=False)
            values[i, entries] = rows[i, entries] * (d / k if self.scaled else 1)
        return Coded(values, self.bits(rows))

    def omega(self, d: int) -> float | None:
        return d / self.k(d) - 1 if self.scaled else None

    def alpha(self, d: int) -> float | None:
        return None if self.scaled else self.k(d) / d
