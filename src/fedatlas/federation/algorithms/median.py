"""The coordinate-wise median (Yin, Chen, Ramchandran & Bartlett 2018, arXiv:1803.01498)."""

from dataclasses import dataclass

from fedatlas.federation.algorithms import Algorithm
from fedatlas.federation.arrays import State, median
from fedatlas.federation.channels import Rows
from fedatlas.federation.engine.steps import Round, Steps
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class Median(Algorithm):
    """Median (Yin et al. 2018, Algorithm 1) is FedAvg with the coordinate-wise median in place of the mean.

        y <- y - lr g(y)                        K times, from y = x
        x <- x + server_lr med_S(y_K - x)

    The algorithm of the paper has one step on the full gradient. The server gets a row from each active client. Where
    clients differ, the fixed point is not the optimum.
    """

    name = "median"
    label = "Median"
    cite = "yin2018"

    lr: float = option(doc="local step size eta", above=0, advice="1/L_max")
    server_lr: float = option(1.0, doc="server step size", above=0)

    def client(self, s: State, i: State, steps: Steps) -> tuple[State, State]:
        y = s.x
        for g in steps:
            y = y - self.lr * g(y)
        return State(change=Rows(y - s.x)), State()

    def server(self, s: State, mean: State, n: Round) -> State:
        return State(x=s.x + self.server_lr * median(mean.change))
