"""MARINA (Gorbunov, Burlachenko, Li & Richtarik 2021, arXiv:2102.07845)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fedatlas.federation.algorithms.compression import WHOLE, Compressing
from fedatlas.federation.arrays import Array, State, zeros_like
from fedatlas.federation.engine.steps import Round, Steps
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class Marina(Compressing):
    """MARINA (Gorbunov et al. 2021) is gradient descent with compressed changes of gradients.

        g <- mean_i G_i(x)                          with probability p, and in the first round
        g <- g + mean_i C(G_i(x) - G_i(x'))         otherwise; x' is the x of the round before
        x <- x - lr g

    C is unbiased. One coin decides for all clients; the server sends it with x. Clients keep their gradient of the
    round before. The setting's local steps have no effect. Theory: lr = 1/(L_max (1 + sqrt(2 (1 - p) omega/(p m))))
    under the Polyak-Lojasiewicz condition.
    """

    name = "marina"
    label = "MARINA"
    cite = "gorbunov2021"
    broadcast = ("x", "coin")
    full_participation = True
    exact = True

    lr: float = option(doc="step size gamma", above=0, advice="1/L_max")
    p: float | None = option(
        None, doc="probability of a round with whole gradients; 1/(1 + omega) by default", above=0, high=1
    )
    compressor: str | dict[str, Any] = option(
        lambda: {"kind": "rand-k", "share": 0.5}, doc="unbiased compressor C", family="channel"
    )

    def init(self, x0: Array) -> tuple[State, State]:
        self.require_omega(len(x0))
        return State(x=x0, g=zeros_like(x0), coin=zeros_like(x0[:1]) + 1), State(g=zeros_like(x0))

    def client(self, s: State, i: State, steps: Steps) -> tuple[State, State]:
        g = steps.full(s.x)
        if float(s.coin[0]) == 1:
            return State(g=steps.code(WHOLE, g)), State(g=g)
        return State(change=steps.code(self.channel, g - i.g)), State(g=g)

    def server(self, s: State, mean: State, n: Round) -> State:
        g = mean.g if "g" in mean else s.g + mean.change
        coin = zeros_like(s.coin) + (n.rng.random() < self._p(len(s.x)))
        return State(x=s.x - self.lr * g, g=g, coin=coin)

    def _p(self, d: int) -> float:
        return 1 / (1 + self.require_omega(d)) if self.p is None else self.p

    def rate(self, c: Mapping[str, float]) -> float | None:
        """Return 1 - lr mu, the factor of F(x) - F* + lr/p |g - G(x)|^2 in expectation."""
        if c["mu"] <= 0 or not {"dim", "clients"} <= c.keys():
            return None
        d, m = int(c["dim"]), c["clients"]
        p, omega = self._p(d), self.require_omega(d)
        largest = 1 / (c["L_max"] * (1 + math.sqrt(2 * (1 - p) * omega / (p * m))))
        return 1 - self.lr * c["mu"] if self.lr <= min(largest, p / (2 * c["mu"])) else None
