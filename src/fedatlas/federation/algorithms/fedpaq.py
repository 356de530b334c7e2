"""FedPAQ (Reisizadeh, Mokhtari, Hassani, Jadbabaie & Pedarsani 2020, arXiv:1909.13014)."""

from dataclasses import dataclass
from typing import Any

from fedatlas.federation.algorithms.compression import Compressing
from fedatlas.federation.arrays import Array, State
from fedatlas.federation.engine.steps import Round, Steps
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class FedPAQ(Compressing):
    """FedPAQ (Reisizadeh et al. 2020, Algorithm 1) is FedAvg with quantised changes.

        y <- y - lr g(y)                        K times, from y = x
        x <- x + mean_S Q(y_K - x)

    Q is unbiased. With ``compressor: identity`` it is FedAvg.
    """

    name = "fedpaq"
    label = "FedPAQ"
    cite = "reisizadeh2020"

    lr: float = option(doc="local step size eta", above=0, advice="1/L_max")
    compressor: str | dict[str, Any] = option(
        lambda: {"kind": "qsgd", "levels": 4}, doc="unbiased compressor Q", family="channel"
    )

    def init(self, x0: Array) -> tuple[State, State]:
        self.require_omega(len(x0))
        return State(x=x0), State()

    def client(self, s: State, i: State, steps: Steps) -> tuple[State, State]:
        y = s.x
        for g in steps:
            y = y - self.lr * g(y)
        return State(change=steps.code(self.channel, y - s.x)), State()

    def server(self, s: State, mean: State, n: Round) -> State:
        return State(x=s.x + mean.change)
