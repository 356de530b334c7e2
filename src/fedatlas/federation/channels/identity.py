"""A channel that changes nothing."""

from dataclasses import dataclass

import numpy as np

from fedatlas.federation.channels import Channel, Coded, Draws, number_bits


@dataclass(frozen=True, kw_only=True)
class Identity(Channel):
    """Every number is sent as it is, with its 64 or 32 bits."""

    name = "identity"

    def code(self, rows: np.ndarray, rng: Draws) -> Coded:
        return Coded(rows, rows.shape[1] * number_bits(rows))

    def omega(self, d: int) -> float:
        return 0.0

    def alpha(self, d: int) -> float:
        return 1.0
