"""Ditto (Li et al. 2021, arXiv:2012.04221)."""

from dataclasses import dataclass

from fedatlas.federation.algorithms import Algorithm
from fedatlas.federation.arrays import Array, State
from fedatlas.federation.engine.steps import Round, Steps
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class Ditto(Algorithm):
    """Ditto (Li et al. 2021, Algorithm 1) is FedAvg with a model of its own for each client, near the common.

        y   <- y - lr g(y)                                 K times, from y = x
        v_i <- v_i - lr (g(v_i) + weight (v_i - x))        K times, on the same minibatches
        x   <- x + server_lr mean_S(y - x)

    v_i, x_0 at first, is the model that client i uses. With weight = 0 it is local training, which no other client
    changes; the larger the weight, the nearer it stays to x. The output is x, which is FedAvg's.
    """

    name = "ditto"
    label = "Ditto"
    cite = "li2021"

    lr: float = option(doc="local step size eta_l, of both models", above=0, advice="1/L_max")
    server_lr: float = option(1.0, doc="server step size eta_g", above=0)
    weight: float = option(0.1, doc="weight lambda of lambda/2 |v_i - x|^2", low=0, search=("0.001*L_max", "1*L_max"))

    def init(self, x0: Array) -> tuple[State, State]:
        return State(x=x0), State(v=x0)

    def client(self, s: State, i: State, steps: Steps) -> tuple[State, State]:
        y, v = s.x, i.v
        for g in steps:
            y = y - self.lr * g(y)
            v = v - self.lr * (g(v) + self.weight * (v - s.x))
        return State(delta=y - s.x), State(v=v)

    def server(self, s: State, mean: State, n: Round) -> State:
        return State(x=s.x + self.server_lr * mean.delta)

    def client_model(self, s: State, i: State) -> Array:
        return i.v
