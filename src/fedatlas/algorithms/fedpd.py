"""FedPD (Zhang et al. 2021, arXiv:2005.11418)."""

from dataclasses import dataclass

from fedatlas.algorithms.base import Algorithm
from fedatlas.arrays import State, zeros_like
from fedatlas.options import option


@dataclass(frozen=True, kw_only=True)
class FedPD(Algorithm):
    """FedPD: a primal-dual method that skips communication at random (Zhang et al. 2021, Algorithm 1 with Oracle I).

        y   <- y - lr (g(y) + l_i + (y - x_i) / eta)        K times, from the client's last y
        l_i <- l_i + (y - x_i) / eta,   x_i <- y + eta l_i
        with probability 1 - p, one coin for all: x_i <- x = mean_j x_j

    l_i = 0 at first. A round is the iterations up to and with the communication, each of the setting's local steps K.
    """

    name = "fedpd"
    label = "FedPD"
    cite = "zhang2021"
    full = True
    exact = True

    lr: float = option(doc="local step size", above=0)
    eta: float = option(doc="penalty: the inverse of the weight of |y - x_i|^2 / 2", above=0)
    p: float = option(0.0, doc="probability that an iteration skips communication", low=0, high=0.999)

    def init(self, x0):
        return State(x=x0), State(y=x0, dual=zeros_like(x0))

    def length(self, K, rng):
        return K * int(rng.geometric(1 - self.p))

    def client(self, s, i, steps):
        x, y, dual = s.x, i.y, i.dual
        for k, g in enumerate(steps, 1):
            y = y - self.lr * (g(y) + dual + (y - x) / self.eta)
            if k % steps.local == 0:
                dual = dual + (y - x) / self.eta
                x = y + self.eta * dual
        return State(x=x), State(y=y, dual=dual)

    def server(self, s, mean, n):
        return State(x=mean.x)
