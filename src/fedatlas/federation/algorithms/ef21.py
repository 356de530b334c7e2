"""EF21 (Richtarik, Sokolov & Fatkhullin 2021) and EF21-SGDM (Fatkhullin, Tyurin & Richtarik 2023)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fedatlas.federation.algorithms.compression import Compressing
from fedatlas.federation.arrays import Array, State, zeros_like
from fedatlas.federation.engine.steps import Round, Steps
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class EF21(Compressing):
    """EF21 (Richtarik et al. 2021, Algorithm 2) is gradient descent with estimates of the clients' gradients.

        c_i = C(G_i(x) - g_i),   g_i <- g_i + c_i
        g <- g + mean_i c_i,   x <- x - lr g

    C is contractive. g_i and g are 0 at first, so that g_i is C(G_i(x0)) after the first round. The setting's local
    steps have no effect. Theory: lr = 1/(L + L_max sqrt(2 beta/theta)) (Theorem 2), where theta = 1 - sqrt(1 - alpha)
    and beta = (1 - alpha)/theta; L_max bounds the theorem's quadratic mean of the clients' constants.
    """

    name = "ef21"
    label = "EF21"
    cite = "richtarik2021"
    full_participation = True
    exact = True

    lr: float = option(doc="step size gamma", above=0, advice="1/L")
    compressor: str | dict[str, Any] = option(
        lambda: {"kind": "top-k", "share": 0.1}, doc="contractive compressor C", family="channel"
    )

    def init(self, x0: Array) -> tuple[State, State]:
        self.channel.require_contraction(len(x0), self.title())
        return State(x=x0, g=zeros_like(x0)), State(g=zeros_like(x0))

    def client(self, s: State, i: State, steps: Steps) -> tuple[State, State]:
        c = steps.code(self.channel, steps.full(s.x) - i.g)
        return State(c=c), State(g=i.g + c.rows)

    def server(self, s: State, mean: State, n: Round) -> State:
        g = s.g + mean.c
        return State(x=s.x - self.lr * g, g=g)

    def rate(self, c: Mapping[str, float]) -> float | None:
        """Return 1 - lr mu, the factor of E F(x) - F* (Theorem 2)."""
        if c["mu"] <= 0 or "dim" not in c:
            return None
        alpha = self.channel.contraction(int(c["dim"]))
        if alpha is None:
            return None
        theta = 1 - math.sqrt(1 - alpha)
        largest = 1 / (c["L"] + c["L_max"] * math.sqrt(2 * (1 - alpha)) / theta)
        return 1 - self.lr * c["mu"] if self.lr <= min(largest, theta / (2 * c["mu"])) else None


@dataclass(frozen=True, kw_only=True)
class EF21SGDM(EF21):
    """EF21-SGDM (Fatkhullin et al. 2023) is EF21 with momentum of the clients' stochastic gradients.

        v_i <- (1 - momentum) v_i + momentum g_i(x)
        c_i = C(v_i - g_i),   g_i <- g_i + c_i
        g <- g + mean_i c_i,   x <- x - lr g

    C is contractive. g_i(x) is the mean of a round's K stochastic gradients, all at x. v_i is g_i(x0) in the first
    round; g_i and g are 0 at first, as in EF21. With momentum = 1 and full gradients it is EF21.
    """

    name = "ef21-sgdm"
    label = "EF21-SGDM"
    cite = "fatkhullin2023"

    momentum: float = option(0.1, doc="weight eta of the new gradient in v_i", above=0, high=1, search=(0.01, 1.0))

    def init(self, x0: Array) -> tuple[State, State]:
        s, i = super().init(x0)
        return s, i.replace(v=zeros_like(x0))

    def client(self, s: State, i: State, steps: Steps) -> tuple[State, State]:
        v = steps.mean(s.x)
        if steps.round > 0:
            v = (1 - self.momentum) * i.v + self.momentum * v
        c = steps.code(self.channel, v - i.g)
        return State(c=c), State(g=i.g + c.rows, v=v)

    def rate(self, c: Mapping[str, float]) -> float | None:
        """Return that of EF21 where momentum = 1, and None elsewhere."""
        return super().rate(c) if self.momentum == 1 else None
