from dataclasses import dataclass

from fedatlas.federation.algorithms import Algorithm
from fedatlas.federation.arrays import State
from fedatlas.registry.options import option

from .steps import moved


@dataclass(frozen=True, kw_only=True)
class Unused(Algorithm):
    """FedMine (Me 2026) is FedAvg with a server step size."""

    name = "unused"
    label = "FedMine"
    cite = "me2026"

    lr: float = option(doc="local step size", above=0)
    server_lr: float = option(1.0, doc="server step size", above=0)

    def client(self, s, i, steps):
        y = s.x
        for g in steps:
            y = moved(y, self.lr, g(y))
        return State(delta=y - s.x), State()

    def server(self, s, mean, n):
        return State(x=s.x + self.server_lr * mean.delta)
