"""Logistic regression on the tosses of a biased coin, a problem of one variable whose Hessian changes."""

import math
from dataclasses import dataclass

import numpy as np

from fedatlas.errors import UserError
from fedatlas.federation.problems import SyntheticKind
from fedatlas.federation.problems.logistic import Logistic
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class BiasedCoin(SyntheticKind):
    """Logistic regression on the tosses of a biased coin: F(x) = mean_j log(1 + exp(-b_j a x)) + l2/2 x^2 with labels
    b_j of 1 and -1.

    All clients toss the same coin. The two gradients that a client may draw differ by a, whatever x is, so the moments
    of their noise are known exactly. So are the smoothness a^2 / 4 + l2 and the Lipschitz constant of the Hessian,
    a^3 / (6 sqrt 3).
    """

    name = "coin"
    constants = ("L", "L_max", "mu")
    reports = ("loss", "accuracy", "suboptimality")
    exact = True
    normal_start = True
    oracles = ("hessian",)

    feature: float = option(1.0, doc="the feature a", above=0)
    heads: int = option(9, doc="rows with the label 1", low=0)
    tails: int = option(1, doc="rows with the label -1", low=0)
    l2: float = option(doc="weight of the penalty x^2 / 2, which is mu", above=0)
    start_scale: float = option(1.0, doc="x0 ~ N(0, start_scale^2), or 0", low=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.heads + self.tails:
            raise UserError("coin: heads and tails are both 0: give the coin a toss")

    def cheap(self, clients: int) -> bool:
        return self.heads + self.tails <= 1000

    def build(self, clients: int) -> "Coin":
        """Build the problem, for any number of clients."""
        return Coin(self.feature, self.heads, self.tails, self.l2, self.start_scale)


class Coin(Logistic):
    """Logistic regression on heads and tails.

    Args:
        feature: The feature of all rows.
        heads: Number of rows with the label 1.
        tails: Number of rows with the label -1.
        l2: Weight of the penalty.
        start_scale: Standard deviation of the start, or 0.
    """

    def __init__(self, feature: float, heads: int, tails: int, l2: float, start_scale: float = 1.0) -> None:
        labels = np.repeat([1, 0], [heads, tails])
        super().__init__(np.full((heads + tails, 1), float(feature)), labels, l2, start_scale=start_scale)
        self.feature, self.share = float(feature), heads / (heads + tails)
        self.optimum = self.solve()

    @property
    def noise_moments(self) -> tuple[float, float]:
        """The second and the fourth central moment of one stochastic gradient, the same at every x."""
        p, q = self.share, 1 - self.share
        return self.feature**2 * p * q, self.feature**4 * p * q * (p**3 + q**3)

    @property
    def hessian_lipschitz(self) -> float:
        """The Lipschitz constant of the Hessian."""
        return self.feature**3 / (6 * math.sqrt(3))
