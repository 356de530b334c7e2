"""FedAsync (Xie et al. 2019, arXiv:1903.03934)."""

from dataclasses import dataclass

from fedatlas.federation.algorithms import Algorithm
from fedatlas.federation.arrays import State
from fedatlas.federation.engine.steps import Round, Steps
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class FedAsync(Algorithm):
    """FedAsync (Xie et al. 2019, Algorithm 1) is a server that mixes each client's model into its own as it arrives.

        y <- y - lr (g(y) + rho (y - x'))          K times, from y = x', the model that the client was handed
        x <- (1 - a) x + a y,   a = alpha (1 + s)^-staleness

    s is the number of the server's steps since the client was handed x', and a has the paper's polynomial function of
    it. It runs under ``driver: {kind: asynchronous, buffer: 1}``, whose options say concurrency and staleness. With a
    larger buffer the server mixes in several models at once. In synchronous rounds it is FedProx with ``server_lr``
    alpha.
    """

    name = "fedasync"
    label = "FedAsync"
    cite = "xie2019"

    lr: float = option(doc="local step size gamma", above=0, advice="1/L_max")
    alpha: float = option(doc="mixing weight alpha of a model", above=0, high=1, advice="0.6", search=(0.03, 1.0))
    rho: float = option(0.0, doc="weight rho of the proximal term rho/2 |y - x'|^2", low=0)

    def client(self, s: State, i: State, steps: Steps) -> tuple[State, State]:
        y = s.x
        for g in steps:
            y = y - self.lr * (g(y) + self.rho * (y - s.x))
        return State(y=y), State()

    def server(self, s: State, mean: State, n: Round) -> State:
        return State(x=(1 - self.alpha * n.discount) * s.x + self.alpha * mean.y)
