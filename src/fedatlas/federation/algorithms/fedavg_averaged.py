"""FedAvg with the output of its theory, a weighted mean of all iterates (Stich 2019; Yuan & Ma 2020, Theorem 3.4)."""

from dataclasses import dataclass

from fedatlas.federation.algorithms.fedavg import FedAvg
from fedatlas.federation.algorithms.recurrences import Recurrence
from fedatlas.federation.arrays import Array, State
from fedatlas.federation.channels import Note
from fedatlas.federation.engine.steps import Round, Steps
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class FedAvgAveraged(FedAvg):
    """FedAvg, averaged (Yuan & Ma 2020, Theorem D.1) is FedAvg evaluated at a weighted mean of all its iterates.

        q = 1 - lr mu / 2,   S_K = 1 + q + ... + q^(K-1)
        y_{k+1} <- y_k - lr g(y_k)                               k = 0, ..., K-1, from y_0 = x
        x <- x + server_lr mean_S(y_K - x)
        a <- (q^K S a + mean_S(sum_k q^(K-1-k) y_k)) / (q^K S + mean_S(S_K))
        S <- q^K S + mean_S(S_K)                                 S = 0 at first

    So the t-th of T local steps has a weight proportional to q^(T-t-1); the last iterate has none. The output is a, and
    the start before the first round. What clients send for a is not counted. Where clients take different numbers of
    steps, S_K is that of each client, and the K of q^K S is their mean.
    """

    name = "fedavg-averaged"
    label = "FedAvg, averaged"
    cite = "yuan2020"

    mu: float = option(doc="strong convexity mu; by default that of the problem", above=0, constant="mu")

    @property
    def q(self) -> float:
        """Ratio of the weights of successive iterates, from the later one."""
        return max(1 - self.lr * self.mu / 2, 0.0)

    def init(self, x0: Array) -> tuple[State, State]:
        return State(x=x0, a=x0, weight=0.0), State()

    def client(self, s: State, i: State, steps: Steps) -> tuple[State, State]:
        y, total, weight = s.x, 0.0, 0.0
        for g in steps:
            total, weight = self.q * total + y, self.q * weight + 1
            y = y - self.lr * g(y)
        return State(delta=y - s.x, iterates=Note(total), weight=Note(0 * y[:, :1] + weight)), State()

    def server(self, s: State, mean: State, n: Round) -> State:
        before = self.q**n.steps * s.weight
        weight = before + mean.weight
        a = (before * s.a + mean.iterates) / weight
        return State(x=super().server(s, mean, n).x, a=a, weight=weight)

    def output(self, s: State) -> Array:
        return s.a

    def recurrence(self, K: int) -> Recurrence | None:
        return None
