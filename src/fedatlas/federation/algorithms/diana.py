"""DIANA (Mishchenko, Gorbunov, Takac & Richtarik 2019, arXiv:1901.09269)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fedatlas.federation.algorithms.compression import Compressing
from fedatlas.federation.arrays import Array, State, zeros_like
from fedatlas.federation.engine.steps import Round, Steps
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class Diana(Compressing):
    """DIANA (Mishchenko et al. 2019) is gradient descent with compressed differences of gradients.

        q_i = C(G_i(x) - h_i),   h_i <- h_i + alpha q_i
        x <- x - lr (h + mean_i q_i),   h <- h + alpha mean_i q_i

    C is unbiased. h_i and h are 0 at first. The setting's local steps have no effect. Theory: alpha = 1/(1 + omega)
    and lr = 1/((1 + 6 omega/m) L_max) (Gorbunov et al. 2020, Theorem 4.1).
    """

    name = "diana"
    label = "DIANA"
    cite = "mishchenko2019"
    full_participation = True
    exact = True

    lr: float = option(doc="step size gamma", above=0, advice="1/L_max")
    alpha: float | None = option(None, doc="step size of h; 1/(1 + omega) by default", above=0, high=1)
    compressor: str | dict[str, Any] = option(
        lambda: {"kind": "rand-k", "share": 0.5}, doc="unbiased compressor C", family="channel"
    )

    def init(self, x0: Array) -> tuple[State, State]:
        self.require_omega(len(x0))
        return State(x=x0, h=zeros_like(x0)), State(h=zeros_like(x0))

    def client(self, s: State, i: State, steps: Steps) -> tuple[State, State]:
        q = steps.code(self.channel, steps.full(s.x) - i.h)
        return State(q=q), State(h=i.h + self._alpha(len(s.x)) * q.rows)

    def server(self, s: State, mean: State, n: Round) -> State:
        return State(x=s.x - self.lr * (s.h + mean.q), h=s.h + self._alpha(len(s.x)) * mean.q)

    def _alpha(self, d: int) -> float:
        return 1 / (1 + self.require_omega(d)) if self.alpha is None else self.alpha

    def rate(self, c: Mapping[str, float]) -> float | None:
        """Return max(1 - lr mu, 1 - alpha/2), the factor of a sum with E |x - x*|^2 as a term.

        It is Theorem 4.1 of Gorbunov et al. 2020 with DIANA's constants, and with twice the least M that it
        allows. L is that of the clients.
        """
        if c["mu_min"] < 0 or c["mu"] <= 0 or not {"dim", "clients"} <= c.keys():
            return None
        d, m = int(c["dim"]), c["clients"]
        omega, alpha = self.require_omega(d), self._alpha(d)
        if alpha > 1 / (1 + omega) or self.lr > 1 / ((1 + 6 * omega / m) * c["L_max"]):
            return None
        return max(1 - self.lr * c["mu"], 1 - alpha / 2 if omega else 0.0)
