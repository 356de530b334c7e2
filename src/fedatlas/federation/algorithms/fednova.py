"""FedNova (Wang, Liu, Liang, Joshi & Poor 2020, arXiv:2007.07481)."""

from dataclasses import dataclass
from typing import Literal

from fedatlas.federation.algorithms import Algorithm
from fedatlas.federation.arrays import Array, State
from fedatlas.federation.engine.steps import Round, Steps
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class FedNova(Algorithm):
    """FedNova (Wang et al. 2020, Algorithm 1) is FedAvg with changes divided by the clients' numbers of local steps.

        y <- y - lr g(y)                                                     K_i times, from y = x
        x <- x + server_lr (sum_S p_i K_i) sum_S p_i (y_K - x)/K_i

    p_i is 1/|S|, or n_i over the n_j of all active clients. Clients take different numbers K_i of steps under
    ``local_epochs``; where all take the same number and p_i = 1/|S|, FedNova is FedAvg. With
    ``weights: size`` each local objective counts by its rows; the problem's own ``weights: size`` scales the losses
    instead, so give one of the two.
    """

    name = "fednova"
    label = "FedNova"
    cite = "wang2020"

    lr: float = option(doc="local step size eta", above=0, advice="1/L_max")
    server_lr: float = option(1.0, doc="server step size", above=0)
    weights: Literal["equal", "size"] = option("equal", doc="weights p_i of clients: alike, or by their n_i rows")

    def client(self, s: State, i: State, steps: Steps) -> tuple[State, State]:
        y = s.x
        for g in steps:
            y = y - self.lr * g(y)
        K = len(steps)
        return State(d=(y - s.x) / K, K=0 * y[:, :1] + K), State()

    def client_weights(self, steps: Steps) -> Array:
        return steps.sizes if self.weights == "size" else None

    def server(self, s: State, mean: State, n: Round) -> State:
        return State(x=s.x + self.server_lr * mean.K * mean.d)
