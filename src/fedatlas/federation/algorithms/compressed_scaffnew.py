"""CompressedScaffnew (Condat, Agarsky & Richtarik 2022, arXiv:2210.13277)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fedatlas.errors import Undefined
from fedatlas.federation.algorithms import geometric_contraction
from fedatlas.federation.algorithms.scaffnew import Scaffnew
from fedatlas.federation.arrays import Array, State, convert, zeros_like
from fedatlas.federation.channels import Coded
from fedatlas.federation.engine.steps import Steps
from fedatlas.registry.options import option

if TYPE_CHECKING:
    from fedatlas.federation.engine.setting import Setting
    from fedatlas.federation.problems.base import Oracles


@dataclass(frozen=True, kw_only=True)
class CompressedScaffnew(Scaffnew):
    """CompressedScaffnew (Condat et al. 2022) is Scaffnew in which each client sends a part of its vector.

        y_i <- y_i - lr (g(y_i) - h_i)
        x <- 1/s sum_i q_i y_i,   h_i <- h_i + p eta/lr q_i (x - y_i),   y_i <- x     with probability p

    q_i is a mask of zeros and ones, drawn anew for each communication, such that each coordinate is sent by s clients.
    The masks are the rows of one template, permuted: client i sends the coordinates k for which (pi(i) - s k) mod m is
    below s, with a random permutation pi. So coordinates are not independent, and another joint law gives other
    results. All draw the masks from a common seed, so that their indices are not sent. eta = m (s - 1) / (s (m - 1)).
    With s = m it is Scaffnew. Rounds are those of Scaffnew. Theory: lr = 2/(L + mu),
    p = min(1, sqrt((m - 1)/(s - 1) mu/L)).
    """

    name = "compressed-scaffnew"
    label = "CompressedScaffnew"
    cite = "condat2022"

    copies: int = option(2, doc="s: clients that send each coordinate", unit="clients", low=2)

    def validate(self, setting: "Setting", problem: "Oracles") -> None:
        super().validate(setting, problem)
        if self.copies > setting.clients:
            raise Undefined(f"{self.title()}: copies is {self.copies}; it must be at most clients = {setting.clients}")

    def init(self, x0: Array) -> tuple[State, State]:
        zeros = zeros_like(x0)
        return State(x=x0), State(y=x0, h=zeros, q=zeros)

    def client(self, s: State, i: State, steps: Steps) -> tuple[State, State]:
        message, state = super().client(s, i, steps)
        m, copies = steps.all_clients, self.copies
        places = steps.shared_rng().permutation(m)[steps.clients]
        mask = (places[:, None] - copies * np.arange(len(s.x))) % m < copies
        q = convert(mask, message.x)
        coded = Coded(q * message.x * (m / copies), mask.sum(axis=1) * 8 * s.x.dtype.itemsize)
        return State(x=coded), state.replace(q=q * (m * (copies - 1) / (copies * (m - 1))))

    def receive(self, s: State, i: State) -> State:
        return State(h=i.h + self.p / self.lr * i.q * (s.x - i.y))

    def rate(self, c: Mapping[str, float]) -> float | None:
        """Return E[q^N] for rounds of N iterations, where q is the contraction of an iteration.

        q = max((1 - lr mu)^2, (1 - lr L)^2, 1 - p^2 (s - 1)/(m - 1)). This supposes that an iteration contracts alike
        with and without communication.
        """
        if c["mu_min"] <= 0 or self.lr >= 2 / c["L_max"] or not self.copies <= c.get("clients", 0):
            return None
        share = (self.copies - 1) / (c["clients"] - 1)
        sizes = ((1 - self.lr * c["mu_min"]) ** 2, (1 - self.lr * c["L_max"]) ** 2, 1 - self.p**2 * share)
        return geometric_contraction(max(sizes), self.p)
