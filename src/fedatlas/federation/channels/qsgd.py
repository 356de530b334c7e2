"""Random rounding to levels between 0 and the norm."""

import math
from dataclasses import dataclass

import numpy as np

from fedatlas.federation.channels import Channel, Coded, Draws, norms, number_bits
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class QSGD(Channel):
    """QSGD (Alistarh et al. 2017) rounds |v_j| / |v| to one of the s levels 1/s, 2/s, ..., 1 or to 0 at random.

    The next level above or below is taken with the probabilities that leave the mean: omega = min(d/s^2, sqrt(d)/s)
    (Lemma 3.1). A message holds the norm as a number, and for each entry a sign and ceil(log2(s + 1)) bits of its
    level.
    """

    name = "qsgd"
    random = True
    levels: int = option(doc="s: number of levels besides 0", low=1)

    def code(self, rows: np.ndarray, rng: Draws) -> Coded:
        m, d = rows.shape
        length = norms(rows)
        uniform = np.stack([rng(i).random(d) for i in range(m)])
        level = np.floor(self.levels * (np.abs(rows) / np.where(length > 0, length, 1)) + uniform)
        share = np.minimum(level, self.levels) / self.levels  # at most 1, also after rounding
        values = np.copysign(length * share, rows).astype(rows.dtype)
        return Coded(values, number_bits(rows) + d * (1 + math.ceil(math.log2(self.levels + 1))))

    def omega(self, d: int) -> float:
        return min(d / self.levels**2, math.sqrt(d) / self.levels)
