"""The base class of channels that send some entries of a vector with their indices."""

import math
from dataclasses import dataclass

import numpy as np

from fedatlas.errors import UserError
from fedatlas.federation.channels import Channel, index_bits, number_bits
from fedatlas.registry.options import option

ROUNDING = 1e-12  # relative error of a product of a share and d, at most


@dataclass(frozen=True, kw_only=True)
class Sparse(Channel):
    """A channel that sends k of d entries, each as its number and ceil(log2 d) bits of its index.

    Where this is more than all d numbers, these are sent.
    """

    share: float | None = option(None, doc="k/d: part of the entries that is sent, rounded up", above=0, high=1)
    count: int | None = option(None, doc="k, instead of share; at most d", low=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.share is None) == (self.count is None):
            raise UserError(f"{self.title()}: give either share or count, and only one of them")

    def k(self, d: int) -> int:
        """Return k for vectors of d entries."""
        if self.share is None:
            return min(d, self.count or d)
        # 0.07 x 100 is a little more than 7 in binary numbers
        return min(d, max(1, math.ceil(self.share * d * (1 - ROUNDING))))

    def bits(self, rows: np.ndarray) -> int:
        """Return the bits of a row's message."""
        d = rows.shape[1]
        return min(self.k(d) * (number_bits(rows) + index_bits(d)), d * number_bits(rows))
