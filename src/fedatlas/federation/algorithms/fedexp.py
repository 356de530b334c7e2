"""FedExP (Jhunjhunwala, Wang & Joshi 2023, arXiv:2301.09604)."""

from dataclasses import dataclass

from fedatlas.federation.algorithms import Algorithm
from fedatlas.federation.arrays import Array, State, dot, maximum
from fedatlas.federation.engine.steps import Round, Steps
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class FedExP(Algorithm):
    """FedExP (Jhunjhunwala et al. 2023) is FedAvg with a server step size by extrapolation.

        y <- y - lr g(y)                                                    K times, from y = x
        eta_g = max(1, mean_S |y_K - x|^2 / (2 (|mean_S(y_K - x)|^2 + eps)))
        x <- x + eta_g mean_S(y_K - x)

    With ``averaged`` the output is the mean of the last two x, which the paper evaluates since x oscillates.
    """

    name = "fedexp"
    label = "FedExP"
    cite = "jhunjhunwala2023"

    lr: float = option(doc="local step size eta_l", above=0, advice="1/L_max")
    eps: float = option(1e-3, doc="constant eps of the server step size", above=0)
    averaged: bool = option(False, doc="whether the output is the mean of the last two x")

    def init(self, x0: Array) -> tuple[State, State]:
        return State(x=x0, last=x0), State()

    def client(self, s: State, i: State, steps: Steps) -> tuple[State, State]:
        y = s.x
        for g in steps:
            y = y - self.lr * g(y)
        change = y - s.x
        return State(change=change, square=dot(change, change)), State()

    def server(self, s: State, mean: State, n: Round) -> State:
        server_lr = maximum(mean.square / (2 * (dot(mean.change, mean.change) + self.eps)), 1.0)
        return State(x=s.x + server_lr * mean.change, last=s.x)

    def output(self, s: State) -> Array:
        return (s.x + s.last) / 2 if self.averaged else s.x
