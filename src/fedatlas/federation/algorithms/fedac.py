"""The FedAc family (Yuan & Ma 2020, arXiv:2006.08950)."""

from dataclasses import dataclass
from math import inf, sqrt
from typing import Literal

from fedatlas.federation.algorithms import Algorithm
from fedatlas.federation.algorithms.recurrences import Recurrence, accelerated
from fedatlas.federation.arrays import Array, State
from fedatlas.federation.engine.steps import Round, Steps
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class FedAc1(Algorithm):
    """FedAc-I (Yuan & Ma 2020, Algorithm 1 with eq. 3.1) is federated accelerated SGD.

        md <- w / beta + (1 - 1/beta) ag
        ag <- md - eta g(md)
        w  <- (1 - 1/alpha) w + md / alpha - gamma g(md)      K times; then the means of w and of ag

    gamma = max(sqrt(eta/(mu K)), eta), alpha = 1/(gamma mu), beta = alpha + 1. The output is ag.
    """

    name = "fedac-1"
    label = "FedAc-I"
    cite = "yuan2020"
    broadcast = ("w", "ag")

    lr: float = option(doc="step size eta", above=0, advice="1/L_max")
    mu: float = option(doc="strong convexity mu; by default that of the problem", above=0, constant="mu")

    def coupling(self, K: int) -> tuple[float, float, float]:
        """Return (alpha, beta, gamma) for rounds of K local steps."""
        gamma = max(sqrt(self.lr / (self.mu * K)), self.lr)
        alpha = 1 / (gamma * self.mu)
        return alpha, alpha + 1, gamma

    def init(self, x0: Array) -> tuple[State, State]:
        return State(w=x0, ag=x0), State()

    def client(self, s: State, i: State, steps: Steps) -> tuple[State, State]:
        alpha, beta, gamma = self.coupling(len(steps))
        w, ag = s.w, s.ag
        for g in steps:
            md = w / beta + (1 - 1 / beta) * ag
            grad = g(md)
            ag = md - self.lr * grad
            w = (1 - 1 / alpha) * w + md / alpha - gamma * grad
        return State(w=w, ag=ag), State()

    def server(self, s: State, mean: State, n: Round) -> State:
        return State(w=mean.w, ag=mean.ag)

    def output(self, s: State) -> Array:
        return s.ag

    def recurrence(self, K: int) -> Recurrence | None:
        return accelerated(*self.coupling(K), self.lr)


@dataclass(frozen=True, kw_only=True)
class FedAc2(FedAc1):
    """FedAc-II (Yuan & Ma 2020, Algorithm 1 with eq. 3.2) is FedAc-I with less acceleration and more stability.

        gamma = max(sqrt(eta/(mu K)), eta), alpha = 3/(2 gamma mu) - 1/2, beta = (2 alpha^2 - 1)/(alpha - 1)

    If Hessians are smooth, it needs less communication than FedAc-I. The authors' code, with which the published runs
    were made, has beta = 2 alpha^2/(alpha - 1).
    """

    name = "fedac-2"
    label = "FedAc-II"

    beta: Literal["printed", "code"] = option("printed", doc="beta of the paper's eq. 3.2, or of the authors' code")

    def coupling(self, K: int) -> tuple[float, float, float]:
        gamma = max(sqrt(self.lr / (self.mu * K)), self.lr)
        alpha = 3 / (2 * gamma * self.mu) - 1 / 2
        numerator = 2 * alpha**2 - 1 if self.beta == "printed" else 2 * alpha**2
        return alpha, numerator / (alpha - 1) if alpha != 1 else inf, gamma


@dataclass(frozen=True, kw_only=True)
class FedAcVanilla(FedAc1):
    """FedAc vanilla (Yuan & Ma 2020, Section 5) is FedAc-I without the trade-off of acceleration and stability.

        gamma = sqrt(eta/mu), alpha = 1/(gamma mu), beta = alpha + 1

    These do not depend on K.
    """

    name = "fedac-vanilla"
    label = "FedAc vanilla"

    def coupling(self, K: int) -> tuple[float, float, float]:
        gamma = sqrt(self.lr / self.mu)
        alpha = 1 / (gamma * self.mu)
        return alpha, alpha + 1, gamma
