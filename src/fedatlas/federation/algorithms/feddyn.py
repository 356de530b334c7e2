"""FedDyn (Acar et al. 2021, arXiv:2111.04263)."""

from dataclasses import dataclass

from fedatlas.federation.algorithms import Algorithm
from fedatlas.federation.arrays import Array, State, zeros_like
from fedatlas.federation.engine.steps import Round, Steps
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class FedDyn(Algorithm):
    """FedDyn (Acar et al. 2021, Algorithm 1) is dynamic regularisation, here with gradient steps on the subproblem.

        y   <- y - lr (g(y) - h_i + alpha (y - x))          K times, from y = x
        h_i <- h_i - alpha (y_K - x)                        for active clients only
        h   <- h - alpha/m sum_S (y_K - x),   x <- mean_S y_K - h / alpha

    h_i is the paper's grad L_i(theta_i), 0 at first. h is the mean of h_i over all m clients.
    """

    name = "feddyn"
    label = "FedDyn"
    cite = "acar2021"
    corrects_drift = True

    lr: float = option(doc="local step size", above=0, advice="1/(L_max+alpha)")
    alpha: float = option(doc="weight alpha of the dynamic regulariser", above=0, advice="L_max")

    def init(self, x0: Array) -> tuple[State, State]:
        return State(x=x0, h=zeros_like(x0)), State(h=zeros_like(x0))

    def client(self, s: State, i: State, steps: Steps) -> tuple[State, State]:
        y = s.x
        for g in steps:
            y = y - self.lr * (g(y) - i.h + self.alpha * (y - s.x))
        return State(y=y), State(h=i.h - self.alpha * (y - s.x))

    def server(self, s: State, mean: State, n: Round) -> State:
        h = s.h - self.alpha * (n.active / n.clients) * (mean.y - s.x)
        return State(x=mean.y - h / self.alpha, h=h)
