"""FedCM (Xu et al. 2021, arXiv:2106.10874)."""

from dataclasses import dataclass

from fedatlas.federation.algorithms import Algorithm
from fedatlas.federation.arrays import Array, State, zeros_like
from fedatlas.federation.engine.steps import Round, Steps
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class FedCM(Algorithm):
    """FedCM (Xu et al. 2021, Algorithm 2) is FedAvg with momentum in the clients' local steps.

        y <- y - lr (alpha g(y) + (1 - alpha) Delta)          K times, from y = x
        Delta <- mean_S (x - y_K) / (lr K),   x <- x - server_lr lr K Delta

    Delta is 0 at first. With alpha = 1 this is FedAvg. Where clients take different numbers of steps, K is their mean.

    g contains the problem's weight decay, which alpha scales with it. The code of FedSpeed's authors adds weight decay
    to the step, outside alpha. With ``decoupled``, the step contains, in place of alpha g(y),

        alpha (g(y) - decoupled y) + decoupled y
    """

    name = "fedcm"
    label = "FedCM"
    cite = "xu2021"
    broadcast = ("x", "Delta")

    lr: float = option(doc="local step size eta_l", above=0, advice="1/L_max")
    server_lr: float = option(1.0, doc="server step size; 1 averages the clients' models", above=0)
    alpha: float = option(0.1, doc="weight alpha of the client's own gradient", above=0, high=1, search=(0.03, 1.0))
    decoupled: float = option(0.0, doc="weight decay in the problem's gradients that alpha does not scale", low=0)

    def init(self, x0: Array) -> tuple[State, State]:
        return State(x=x0, Delta=zeros_like(x0)), State()

    def client(self, s: State, i: State, steps: Steps) -> tuple[State, State]:
        y = s.x
        for g in steps:
            q = self.alpha * g(y) + (1 - self.alpha) * s.Delta
            if self.decoupled:
                q = q + (1 - self.alpha) * self.decoupled * y
            y = y - self.lr * q
        return State(y=y - s.x), State()

    def server(self, s: State, mean: State, n: Round) -> State:
        return State(x=s.x + self.server_lr * mean.y, Delta=-mean.y / (self.lr * n.steps))
