"""Baselines without local steps: gradient descent and minibatch SGD, plain and accelerated."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import sqrt

from fedatlas.federation.algorithms import Algorithm
from fedatlas.federation.algorithms.recurrences import Recurrence, accelerated, descent
from fedatlas.federation.arrays import Array, State
from fedatlas.federation.engine.steps import Round, Steps
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class GradientDescent(Algorithm):
    """GD is gradient descent on the mean of the clients' objectives, one step a round (Nesterov 2018).

    x <- x - lr mean_i G_i(x)
    """

    name = "gd"
    label = "GD"
    cite = "nesterov2018"
    pooled = True
    corrects_drift = True

    lr: float = option(doc="step size eta", above=0, advice="1/L")

    def client(self, s: State, i: State, steps: Steps) -> tuple[State, State]:
        return State(g=steps.full(s.x)), State()

    def server(self, s: State, mean: State, n: Round) -> State:
        return State(x=s.x - self.lr * mean.g)

    def rate(self, c: Mapping[str, float]) -> float | None:
        """Return the larger of (1 - lr mu)^2 and (1 - lr L)^2, where that is at most 1 (Nesterov 2018)."""
        rate = max(abs(1 - self.lr * c["mu"]), abs(1 - self.lr * c["L"])) ** 2
        return rate if rate <= 1 else None


@dataclass(frozen=True, kw_only=True)
class MinibatchSGD(GradientDescent):
    """MB-SGD (Dekel et al. 2012) is distributed minibatch SGD: one step a round with the M K samples of M workers.

    x <- x - lr g(x)
    """

    name = "mb-sgd"
    label = "MB-SGD"
    cite = "dekel2012"

    def client(self, s: State, i: State, steps: Steps) -> tuple[State, State]:
        return State(g=steps.mean(s.x)), State()

    def recurrence(self, K: int) -> Recurrence | None:
        return descent(self.lr)


@dataclass(frozen=True, kw_only=True)
class MinibatchAcSGD(Algorithm):
    """MB-AC-SGD (Cotter et al. 2011) is accelerated minibatch SGD: one step a round with the M K samples of M workers.

        md <- w / beta + (1 - 1/beta) ag
        ag <- md - eta g(md)
        w  <- (1 - 1/alpha) w + md / alpha - gamma g(md)

    gamma = sqrt(eta/mu), alpha = 1/(gamma mu), beta = alpha + 1, as in Yuan & Ma 2020, Appendix A. The output is ag.
    """

    name = "mb-ac-sgd"
    label = "MB-AC-SGD"
    cite = "cotter2011"
    broadcast = ("md",)
    pooled = True
    corrects_drift = True

    lr: float = option(doc="step size eta", above=0, advice="1/L")
    mu: float = option(doc="strong convexity mu; by default that of the problem", above=0, constant="mu")

    @property
    def coupling(self) -> tuple[float, float, float]:
        """(alpha, beta, gamma)."""
        gamma = sqrt(self.lr / self.mu)
        alpha = 1 / (gamma * self.mu)
        return alpha, alpha + 1, gamma

    def init(self, x0: Array) -> tuple[State, State]:
        return State(w=x0, ag=x0, md=x0), State()

    def client(self, s: State, i: State, steps: Steps) -> tuple[State, State]:
        return State(g=steps.mean(s.md)), State()

    def server(self, s: State, mean: State, n: Round) -> State:
        alpha, _, gamma = self.coupling
        ag = s.md - self.lr * mean.g
        w = (1 - 1 / alpha) * s.w + s.md / alpha - gamma * mean.g
        return self._with_point(State(w=w, ag=ag))

    def output(self, s: State) -> Array:
        return s.ag

    def recurrence(self, K: int) -> Recurrence | None:
        return replace(accelerated(*self.coupling, self.lr), resume=self._with_point)

    def _with_point(self, s: State) -> State:
        _, beta, _ = self.coupling
        return s.replace(md=s.w / beta + (1 - 1 / beta) * s.ag)
