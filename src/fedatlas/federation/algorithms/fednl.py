"""FedNL (Safaryan, Islamov, Qian & Richtarik 2022, arXiv:2106.02969)."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fedatlas.federation.algorithms.compression import WHOLE, Compressing
from fedatlas.federation.arrays import Array, State, beside, convert, norm, solve
from fedatlas.federation.engine.steps import Round, Steps
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class FedNL(Compressing):
    """FedNL (Safaryan et al. 2022, Option 2) is Newton's method with Hessians that the server learns.

        D_i = hess f_i(x) - H_i,   H_i <- H_i + C(D_i)
        x <- x - (H + mean_i |D_i| I)^(-1) mean_i G_i(x),   H <- H + mean_i C(D_i)

    The paper has a learning rate of the Hessians, by which C(D_i) is multiplied in both updates; here it is 1. C is
    contractive, and the norm of a matrix is the Frobenius norm. H_i and H are 0 at first. A Hessian is
    computed as d products, each of which counts as a full gradient. Where the matrix is singular, its pseudoinverse
    takes the place of the inverse. The setting's local steps have no effect. ``vectors_up`` counts the d numbers of
    a gradient and the d^2 numbers of a Hessian before they are compressed; ``bits_up`` counts what is sent.
    """

    name = "fednl"
    label = "FedNL"
    cite = "safaryan2022"
    full_participation = True
    exact = True
    requires = ("hessian",)

    compressor: str | dict[str, Any] = option(
        lambda: {"kind": "low-rank", "rank": 1}, doc="contractive compressor C of d x d matrices", family="channel"
    )

    def init(self, x0: Array) -> tuple[State, State]:
        d = len(x0)
        self.channel.require_contraction(d * d, self.title())
        zeros = convert(np.zeros(d * d), x0)
        return State(x=x0, H=zeros), State(H=zeros)

    def client(self, s: State, i: State, steps: Steps) -> tuple[State, State]:
        units = convert(np.eye(len(s.x)), s.x)
        difference = beside(*(steps.hessian_product(s.x, unit) for unit in units)) - i.H
        coded = steps.code(self.channel, difference)
        return State(g=steps.code(WHOLE, steps.full(s.x)), D=coded, size=norm(difference)), State(H=i.H + coded.rows)

    def server(self, s: State, mean: State, n: Round) -> State:
        d = len(s.x)
        matrix = s.H.reshape(d, d) + mean.size * convert(np.eye(d), s.x)
        return State(x=s.x - solve(matrix, mean.g), H=s.H + mean.D)
