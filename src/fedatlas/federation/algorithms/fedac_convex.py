"""FedAc for objectives that are convex but not strongly convex (Yuan & Ma 2020, arXiv:2006.08950, Appendix E)."""

from dataclasses import dataclass
from typing import Literal

from fedatlas.federation.algorithms import Algorithm
from fedatlas.federation.algorithms.fedac import FedAc1, FedAc2
from fedatlas.federation.algorithms.recurrences import Recurrence, accelerated
from fedatlas.federation.arrays import Array, State
from fedatlas.federation.engine.steps import Round, Steps
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class FedAcConvex(Algorithm):
    """FedAc convex (Yuan & Ma 2020, Section 3.3) is FedAc on the regularised objective F(w) + lam/2 |w - w0|^2.

        h(md) = g(md) + lam (md - w0)                         w0 the start (eq. E.1)
        md <- w / beta + (1 - 1/beta) ag
        ag <- md - eta h(md)
        w  <- (1 - 1/alpha) w + md / alpha - gamma h(md)      K times; then the means of w and of ag

    alpha, beta and gamma are those of eq. 3.1 (variant 1) or eq. 3.2 (variant 2) for mu = lam. The output is ag.
    """

    name = "fedac-convex"
    label = "FedAc convex"
    cite = "yuan2020"
    broadcast = ("w", "ag")  # w0 is sent once, at the start

    lr: float = option(doc="step size eta", above=0, advice="1/(L_max+lam)")
    lam: float = option(doc="weight lambda of |w - w0|^2 / 2", above=0, advice="2*L/(K*R*R)")
    variant: Literal[1, 2] = option(1, doc="1 for FedAc-I, 2 for FedAc-II")

    def coupling(self, K: int) -> tuple[float, float, float]:
        """Return (alpha, beta, gamma) for rounds of K local steps."""
        return {1: FedAc1, 2: FedAc2}[self.variant](lr=self.lr, mu=self.lam).coupling(K)

    def init(self, x0: Array) -> tuple[State, State]:
        return State(w=x0, ag=x0, w0=x0), State()

    def client(self, s: State, i: State, steps: Steps) -> tuple[State, State]:
        alpha, beta, gamma = self.coupling(len(steps))
        w, ag = s.w, s.ag
        for g in steps:
            md = w / beta + (1 - 1 / beta) * ag
            grad = g(md) + self.lam * (md - s.w0)
            ag = md - self.lr * grad
            w = (1 - 1 / alpha) * w + md / alpha - gamma * grad
        return State(w=w, ag=ag), State()

    def server(self, s: State, mean: State, n: Round) -> State:
        return s.replace(w=mean.w, ag=mean.ag)

    def output(self, s: State) -> Array:
        return s.ag

    def recurrence(self, K: int) -> Recurrence | None:
        alpha, beta, gamma = self.coupling(K)
        plain = accelerated(alpha, beta, gamma, self.lr)
        (w, ag), c = plain.A, plain.c
        pull = [(-b * self.lam * c[0], -b * self.lam * c[1], b * self.lam) for b in plain.b]
        A = ((w[0] + pull[0][0], w[1] + pull[0][1], pull[0][2]), (ag[0] + pull[1][0], ag[1] + pull[1][1], pull[1][2]))
        return Recurrence(("w", "ag", "w0"), (*A, (0.0, 0.0, 1.0)), b=(*plain.b, 0.0), c=(*c, 0.0))
