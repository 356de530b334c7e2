"""Signs with a common size."""

from dataclasses import dataclass

import numpy as np

from fedatlas.federation.channels.base import Channel, Coded, Draws, word


@dataclass(frozen=True, kw_only=True)
class Sign(Channel):
    """Scaled signs (Karimireddy et al. 2019) are |v|_1 / d times the sign of each entry; alpha = 1/d.

    alpha is that of the worst vector; it is |v|_1^2 / (d |v|^2) of v. A message holds a number and a bit for each
    entry, so 0 has a sign too.
    """

    name = "sign"

    def code(self, rows: np.ndarray, rng: Draws) -> Coded:
        d = rows.shape[1]
        size = (np.abs(rows) / d).sum(axis=1, keepdims=True)  # divided first: the sum of large entries may overflow
        return Coded(np.copysign(size, rows), word(rows) + d)

    def alpha(self, d: int) -> float:
        return 1 / d
