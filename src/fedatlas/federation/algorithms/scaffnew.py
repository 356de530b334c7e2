"""Scaffnew (Mishchenko et al. 2022, arXiv:2202.09357)."""

from collections.abc import Mapping
from dataclasses import dataclass

from numpy.random import Generator

from fedatlas.federation.algorithms import Algorithm, geometric_contraction
from fedatlas.federation.arrays import Array, State, zeros_like
from fedatlas.federation.engine.steps import Round, Steps
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class Scaffnew(Algorithm):
    """Scaffnew (Mishchenko et al. 2022, Algorithm 2) is ProxSkip for federated learning: clients communicate at random.

        y_i <- y_i - lr (g(y_i) - h_i)
        x <- mean_i y_i,   h_i <- h_i + p/lr (x - y_i),   y_i <- x     with probability p, one coin for all clients

    These lines are one iteration. A round consists of the iterations up to and with the next communication. Their
    number is geometric, so the setting's local steps have no effect. h_i is 0 at first, so that the h_i have the sum 0;
    they change only when clients communicate. Theory: lr = 1/L, p = sqrt(mu/L) (Theorem 3.6).
    """

    name = "scaffnew"
    label = "Scaffnew"
    cite = "mishchenko2022"
    full_participation = True
    corrects_drift = True

    lr: float = option(doc="step size gamma", above=0, advice="1/L_max")
    p: float = option(
        doc="probability p that an iteration communicates",
        low=1e-4,
        high=1,
        advice="max(0.0001,sqrt(mu/L_max))",
        search=(0.01, 1.0),
    )

    def init(self, x0: Array) -> tuple[State, State]:
        return State(x=x0), State(y=x0, h=zeros_like(x0))

    def length(self, K: int, rng: Generator) -> int:
        return int(rng.geometric(self.p))

    def client(self, s: State, i: State, steps: Steps) -> tuple[State, State]:
        y = s.x
        for g in steps:
            y = y - self.lr * (g(y) - i.h)
        return State(x=y), State(y=y, h=i.h)

    def server(self, s: State, mean: State, n: Round) -> State:
        return State(x=mean.x)

    def receive(self, s: State, i: State) -> State:
        return State(h=i.h + self.p / self.lr * (s.x - i.y))

    def rate(self, c: Mapping[str, float]) -> float | None:
        """Return E[q^N] = p q / (1 - (1 - p) q) for rounds of N iterations, each of which contracts by q.

        q = 1 - min(lr mu_min, p^2) is that of Theorem 3.6, on average over the coin. This supposes that an iteration
        contracts alike with and without communication.
        """
        if c["mu_min"] < 0 or self.lr > 1 / c["L_max"]:
            return None
        return geometric_contraction(1 - min(self.lr * c["mu_min"], self.p**2), self.p)
