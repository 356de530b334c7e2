"""Federated averaging and its proximal variant."""

from dataclasses import dataclass

from fedatlas.federation.algorithms import Algorithm
from fedatlas.federation.algorithms.recurrences import Recurrence, descent
from fedatlas.federation.arrays import State
from fedatlas.federation.engine.steps import Round, Steps
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class FedAvg(Algorithm):
    """FedAvg (McMahan et al. 2017) is federated averaging, also called local SGD (Yuan & Ma 2020, Algorithm 2).

    y <- y - lr g(y)              K times, from y = x
    x <- x + server_lr mean_S(y - x)
    """

    name = "fedavg"
    label = "FedAvg"
    cite = "mcmahan2017"

    lr: float = option(doc="local step size eta_l", above=0, advice="1/L_max")
    server_lr: float = option(1.0, doc="server step size eta_g", above=0)

    def client(self, s: State, i: State, steps: Steps) -> tuple[State, State]:
        y = s.x
        for g in steps:
            y = y - self.lr * g(y)
        return State(delta=y - s.x), State()

    def server(self, s: State, mean: State, n: Round) -> State:
        return State(x=s.x + self.server_lr * mean.delta)

    def recurrence(self, K: int) -> Recurrence | None:
        return descent(self.lr, self.server_lr)


@dataclass(frozen=True, kw_only=True)
class FedProx(FedAvg):
    """FedProx (Li et al. 2020) is FedAvg with a proximal term, here with gradient steps on the proximal subproblem.

    y <- y - lr (g(y) + nu (y - x))              K times, from y = x
    x <- x + server_lr mean_S(y - x)
    """

    name = "fedprox"
    label = "FedProx"
    cite = "li2020"

    nu: float = option(
        0.01, doc="weight nu of the proximal term nu/2 |y - x|^2", low=0, search=("0.001*L_max", "1*L_max")
    )

    def client(self, s: State, i: State, steps: Steps) -> tuple[State, State]:
        y = s.x
        for g in steps:
            y = y - self.lr * (g(y) + self.nu * (y - s.x))
        return State(delta=y - s.x), State()

    def recurrence(self, K: int) -> Recurrence | None:
        return None  # a local step also depends on x, where the round starts
