"""FedPD (Zhang et al. 2021, arXiv:2005.11418)."""

from dataclasses import dataclass

from numpy.random import Generator

from fedatlas.federation.algorithms import Algorithm
from fedatlas.federation.arrays import Array, State, zeros_like
from fedatlas.federation.engine.steps import Round, Steps
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class FedPD(Algorithm):
    """FedPD (Zhang et al. 2021, Algorithm 1 with Oracle I) is a primal-dual method that skips communication at random.

        y   <- y - lr (g(y) + l_i + (y - x_i) / eta)        K times, from the client's last y
        l_i <- l_i + (y - x_i) / eta,   x_i <- y + eta l_i
        x_i <- x = mean_j x_j                               with probability 1 - p, one coin for all clients

    l_i is 0 at first. These lines are one iteration, in which K is the setting's local steps. A round consists of the
    iterations up to and with the next communication.
    """

    name = "fedpd"
    label = "FedPD"
    cite = "zhang2021"
    full_participation = True
    corrects_drift = True

    lr: float = option(doc="local step size", above=0, advice="1/(L_max+1/eta)")
    eta: float = option(
        doc="penalty eta: the weight of |y - x_i|^2 / 2 is 1/eta",
        above=0,
        advice="0.15/L_max",
        search=("0.1/L_max", "100/L_max"),
    )
    p: float = option(0.0, doc="probability p that an iteration skips communication", low=0, high=0.9999)

    def init(self, x0: Array) -> tuple[State, State]:
        return State(x=x0), State(y=x0, dual=zeros_like(x0))

    def length(self, K: int, rng: Generator) -> int:
        return K * int(rng.geometric(1 - self.p))

    def client(self, s: State, i: State, steps: Steps) -> tuple[State, State]:
        x, y, dual = s.x, i.y, i.dual
        for k, g in enumerate(steps, 1):
            y = y - self.lr * (g(y) + dual + (y - x) / self.eta)
            if k % steps.local == 0:
                dual = dual + (y - x) / self.eta
                x = y + self.eta * dual
        return State(x=x), State(y=y, dual=dual)

    def server(self, s: State, mean: State, n: Round) -> State:
        return State(x=mean.x)
