"""FedSpeed (Sun et al. 2023, arXiv:2302.10429)."""

from dataclasses import dataclass
from typing import Literal

from fedatlas.algorithms.base import Algorithm
from fedatlas.arrays import State, mix, norm, plus, zeros_like
from fedatlas.errors import UserError
from fedatlas.options import option


@dataclass(frozen=True, kw_only=True)
class FedSpeed(Algorithm):
    """FedSpeed: prox-correction and gradient perturbation (Sun et al. 2023, Algorithm 1).

        g1 = g(y),  g2 = g(y + rho g1 / |g1|)               the same minibatch
        y  <- y - lr ((1 - alpha) g1 + alpha g2 - c + (y - x) / lam)      K times, from y = x
        c  <- c - (y_K - x) / lam,   send y_K - lam c,   x <- mean_S

    c is the paper's prox-correction g-hat, 0 at first. So ``mean`` is ``active``, as Algorithm 1 reads: a client's own
    c moves x whenever it takes part, so that with few of many clients active x is noisy and may diverge. With ``all``
    x has the mean of c over all clients, as in the authors' code and FedDyn:

        send y_K,   h <- h - |S|/m mean_S(y_K - x) / lam,   x <- mean_S(y_K) - lam h

    where h is the mean of all c. The two agree under full participation.

    rho is the paper's rho_0: Section 5.3 scales the ascent by 1/|g1|; ``normalise`` off takes rho g1 as in Algorithm 1,
    line 8. Table 7 switches parts off: without ``perturbation`` g2 is not computed and q = g1; without ``correction`` c
    stays 0 and y_K is sent; without ``prox`` (y - x) / lam is gone as well. With none of the three this is FedAvg, with
    ``prox`` alone FedProx.
    """

    name = "fedspeed"
    label = "FedSpeed"
    cite = "sun2023"

    lr: float = option(doc="local step size eta_l", above=0)
    lam: float = option(10.0, doc="lambda, inverse weight of the proximal term", above=0)
    alpha: float = option(0.9375, doc="weight of the perturbed gradient", low=0, high=1)
    rho: float = option(0.1, doc="ascent step of the perturbation", low=0)
    normalise: bool = option(True, doc="divide the ascent step by |g1|")
    prox: bool = option(True, doc="whether local steps have the proximal term")
    correction: bool = option(True, doc="whether they have the prox-correction")
    perturbation: bool = option(True, doc="whether they have the perturbed gradient")
    mean: Literal["active", "all"] = option("active", doc="clients over whom corrections are averaged")

    def __post_init__(self):
        super().__post_init__()
        if self.correction and not self.prox:
            raise UserError("fedspeed: correction corrects the proximal term: it must be off where prox is")

    def init(self, x0):
        if not self.correction:
            return State(x=x0), State()
        server = State(x=x0) if self.mean == "active" else State(x=x0, h=zeros_like(x0))
        return server, State(c=zeros_like(x0))

    def client(self, s, i, steps):
        y = s.x
        for g in steps:
            q = self.quasi_gradient(g, y)
            if self.correction:
                q = q - i.c
            if self.prox:
                q = plus(q, 1 / self.lam, y - s.x)
            y = plus(y, -self.lr, q)
        if not self.correction:
            return State(x=y), State()
        c = i.c - (y - s.x) / self.lam
        return State(x=y - self.lam * c if self.mean == "active" else y), State(c=c)

    def quasi_gradient(self, g, y):
        """q: the gradient at y, merged with the one at the end of an ascent step."""
        g1 = g(y)
        if not self.perturbation:
            return g1
        length = norm(g1) if self.normalise else 1
        g2 = g(plus(y, self.rho / (length + (length == 0)), g1))
        return mix(g1, g2, self.alpha)

    def server(self, s, mean, n):
        if not self.correction or self.mean == "active":
            return State(x=mean.x)
        h = s.h - n.active / n.clients * (mean.x - s.x) / self.lam
        return State(x=mean.x - self.lam * h, h=h)
