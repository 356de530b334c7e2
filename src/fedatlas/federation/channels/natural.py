"""Random rounding to powers of two."""

from dataclasses import dataclass

import numpy as np

from fedatlas.federation.channels import Channel, Coded, Draws, number_bits

EXPONENT = {16: 5, 32: 8, 64: 11}  # bits of the exponent of a floating-point number, by its bits


@dataclass(frozen=True, kw_only=True)
class Natural(Channel):
    """Natural compression (Horvath et al. 2022) rounds to a power of two above or below, at random; omega = 1/8.

    The probabilities leave the mean. A message holds a sign and an exponent for each entry: 12 bits of 64, 9 of 32.
    Numbers below the smallest normal one become 0, and those above the largest power of two become this power, since no
    exponent stands for what lies beyond.
    """

    name = "natural"
    random = True

    def code(self, rows: np.ndarray, rng: Draws) -> Coded:
        m, d = rows.shape
        mantissa, exponent = np.frexp(rows)  # rows = mantissa 2^exponent, where 1/2 <= |mantissa| < 1
        limits = np.finfo(rows.dtype)
        uniform = np.stack([rng(i).random(d) for i in range(m)])
        upper = uniform < 2 * np.abs(mantissa) - 1
        power = np.minimum(exponent - 1 + upper, limits.maxexp - 1)
        values = np.copysign(np.ldexp(np.ones_like(rows), power), rows)
        return Coded(np.where(np.abs(rows) < limits.tiny, 0, values), d * (1 + EXPONENT[number_bits(rows)]))

    def omega(self, d: int) -> float:
        return 1 / 8
