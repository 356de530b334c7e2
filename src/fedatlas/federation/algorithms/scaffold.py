"""SCAFFOLD (Karimireddy et al. 2020, arXiv:1910.06378)."""

from dataclasses import dataclass
from typing import Literal

from fedatlas.federation.algorithms import Algorithm
from fedatlas.federation.arrays import Array, State, zeros_like
from fedatlas.federation.engine.steps import Round, Steps
from fedatlas.registry import options


@dataclass(frozen=True, kw_only=True)
class Scaffold(Algorithm):
    """SCAFFOLD (Karimireddy et al. 2020, Algorithm 1) is FedAvg with control variates against client drift.

        y   <- y - lr (g(y) - c_i + c)                      K times, from y = x
        c_i' = G_i(x)                                       with ``option: 1``
        c_i' = c_i - c + (x - y_K) / (K lr)                 with ``option: 2``
        x   <- x + server_lr mean_S(y_K - x),   c <- c + |S|/m mean_S(c_i' - c_i)

    c and c_i are 0 at first, and c_i <- c_i' for active clients. m is the number of all clients. Option 1 is also
    control variate (1) of FedRed.
    """

    name = "scaffold"
    label = "SCAFFOLD"
    cite = "karimireddy2020"
    broadcast = ("x", "c")
    corrects_drift = True

    lr: float = options.option(doc="local step size eta_l", above=0, advice="1/L_max")
    server_lr: float = options.option(1.0, doc="server step size eta_g", above=0)
    option: Literal[1, 2] = options.option(2, doc="how c_i is renewed: 1 by the full gradient, 2 by the local steps")

    def init(self, x0: Array) -> tuple[State, State]:
        return State(x=x0, c=zeros_like(x0)), State(c=zeros_like(x0))

    def client(self, s: State, i: State, steps: Steps) -> tuple[State, State]:
        y = s.x
        for g in steps:
            y = y - self.lr * (g(y) - i.c + s.c)
        if self.option == 1:
            c_new = steps.full(s.x)
        else:
            c_new = i.c - s.c + (s.x - y) / (len(steps) * self.lr)
        return State(y=y - s.x, c=c_new - i.c), State(c=c_new)

    def server(self, s: State, mean: State, n: Round) -> State:
        return State(x=s.x + self.server_lr * mean.y, c=s.c + n.active / n.clients * mean.c)
