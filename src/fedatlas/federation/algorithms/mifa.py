"""Methods in which the server remembers the last update of every client."""

from dataclasses import dataclass

from fedatlas.federation.algorithms import Algorithm
from fedatlas.federation.arrays import Array, State, zeros_like
from fedatlas.federation.engine.steps import Round, Steps
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class MIFA(Algorithm):
    """MIFA (Gu et al. 2021, Algorithm 1) is FedAvg in which an inactive client takes part with its last update.

        G_i <- (x - y) / lr                      for i in S; y after K steps y <- y - lr g(y) from y = x
        x   <- x - server_lr lr mean_all G_i     in every round, even if no client is active

    In the paper all clients are active in the first round. Here G_i is 0 until client i has been active.
    """

    name = "mifa"
    label = "MIFA"
    cite = "gu2021"

    lr: float = option(doc="local step size eta_t", above=0, advice="1/L_max")
    server_lr: float = option(1.0, doc="server step size, 1 in the paper", above=0)

    def init(self, x0: Array) -> tuple[State, State]:
        return State(x=x0, G=zeros_like(x0)), State(G=zeros_like(x0))

    def client(self, s: State, i: State, steps: Steps) -> tuple[State, State]:
        y = s.x
        for g in steps:
            y = y - self.lr * g(y)
        G = (s.x - y) / self.lr
        return State(G=G - i.G), State(G=G)

    def server(self, s: State, mean: State, n: Round) -> State:
        return self._move(s.x, s.G + n.active / n.clients * mean.G)

    def empty_round(self, s: State, n: Round) -> State:
        return self._move(s.x, s.G)

    def _move(self, x: Array, G: Array) -> State:
        return State(x=x - self.server_lr * self.lr * G, G=G)


@dataclass(frozen=True, kw_only=True)
class FedVARP(Algorithm):
    """FedVARP (Jhunjhunwala et al. 2022, Algorithm 1) is FedAvg with the clients' last updates as control variates.

    x   <- x + server_lr (mean_S(D_i - m_i) + mean_all m_i),   D_i = y - x after K local steps
    m_i <- D_i                                                  for i in S, 0 at first
    """

    name = "fedvarp"
    label = "FedVARP"
    cite = "jhunjhunwala2022"

    lr: float = option(doc="local step size eta_l", above=0, advice="1/L_max")
    server_lr: float = option(1.0, doc="server step size", above=0)

    def init(self, x0: Array) -> tuple[State, State]:
        return State(x=x0, m=zeros_like(x0)), State(m=zeros_like(x0))

    def client(self, s: State, i: State, steps: Steps) -> tuple[State, State]:
        y = s.x
        for g in steps:
            y = y - self.lr * g(y)
        D = y - s.x
        return State(D=D - i.m), State(m=D)

    def server(self, s: State, mean: State, n: Round) -> State:
        return State(x=s.x + self.server_lr * (mean.D + s.m), m=s.m + n.active / n.clients * mean.D)
