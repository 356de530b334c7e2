"""Scaffnew, ProxSkip for federated learning (Mishchenko et al. 2022, arXiv:2202.09357)."""

from dataclasses import dataclass

from fedatlas.algorithms.base import Algorithm
from fedatlas.arrays import State, zeros_like
from fedatlas.options import option


@dataclass(frozen=True, kw_only=True)
class Scaffnew(Algorithm):
    """Scaffnew: local steps that skip communication at random (Mishchenko et al. 2022, Algorithm 2).

        y   <- y - lr (g(y) - h_i)                 each iteration
        with probability p, one coin for all: x <- mean_i y_i,   h_i <- h_i + p/lr (x - y_i),   y_i <- x

    h_i = 0 at first, so that the h_i sum to 0; they change only where clients communicate. A round is the iterations
    up to and with the communication: their number is geometric, whatever the setting's local steps.
    Theory: lr = 1/L, p = sqrt(mu/L) (Theorem 3.6).
    """

    name = "scaffnew"
    label = "Scaffnew"
    cite = "mishchenko2022"
    full = True
    exact = True

    lr: float = option(doc="step size gamma", above=0)
    p: float = option(doc="probability of a communication", above=0, high=1)

    def init(self, x0):
        return State(x=x0), State(y=x0, h=zeros_like(x0))

    def length(self, K, rng):
        return int(rng.geometric(self.p))

    def client(self, s, i, steps):
        y = s.x
        for g in steps:
            y = y - self.lr * (g(y) - i.h)
        return State(x=y), State(y=y, h=i.h)

    def server(self, s, mean, n):
        return State(x=mean.x)

    def receive(self, s, i):
        return State(h=i.h + self.p / self.lr * (s.x - i.y))

    def rate(self, c):
        """E[q^N] over the N iterations of a round, each of which contracts by q on average over its coin (Theorem 3.6):
        taken to contract alike with and without communication."""
        if c["mu_min"] < 0 or self.lr > 1 / c["L_max"]:
            return None
        return self.over_geometric(1 - min(self.lr * c["mu_min"], self.p**2), self.p)
