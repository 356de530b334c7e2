"""Federated averaging and its proximal variant."""

from dataclasses import dataclass

from fedatlas.algorithms.base import Algorithm
from fedatlas.algorithms.recurrences import descent
from fedatlas.arrays import State
from fedatlas.options import option


@dataclass(frozen=True, kw_only=True)
class FedAvg(Algorithm):
    """Federated averaging, also called local SGD (McMahan et al. 2017; Yuan & Ma 2020, Algorithm 2).

    y <- y - lr g(y)              K times, from y = x
    x <- x + server_lr mean_S(y - x)
    """

    name = "fedavg"
    label = "FedAvg"
    cite = "mcmahan2017"

    lr: float = option(doc="local step size eta_l", above=0)
    server_lr: float = option(1.0, doc="server step size eta_g", above=0)

    def client(self, s, i, steps):
        y = s.x
        for g in steps:
            y = y - self.lr * g(y)
        return State(delta=y - s.x), State()

    def server(self, s, mean, n):
        return State(x=s.x + self.server_lr * mean.delta)

    def recurrence(self, K):
        return descent(self.lr, self.server_lr)


@dataclass(frozen=True, kw_only=True)
class FedProx(FedAvg):
    """FedProx with gradient steps on the proximal subproblem (Li et al. 2020).

    y <- y - lr (g(y) + nu (y - x))
    """

    name = "fedprox"
    label = "FedProx"
    cite = "li2020"

    nu: float = option(0.01, doc="weight of the proximal term nu/2 |y - x|^2", low=0)

    def client(self, s, i, steps):
        y = s.x
        for g in steps:
            y = y - self.lr * (g(y) + self.nu * (y - s.x))
        return State(delta=y - s.x), State()

    def recurrence(self, K):
        return None  # the anchor x is no part of what is averaged
