"""FedSpeed (Sun et al. 2023, arXiv:2302.10429)."""

from dataclasses import dataclass
from typing import Literal

from fedatlas.errors import UserError
from fedatlas.federation.algorithms import Algorithm
from fedatlas.federation.arrays import Array, State, maximum, mix, norm, plus, zeros_like
from fedatlas.federation.engine.steps import Gradient, Round, Steps
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class FedSpeed(Algorithm):
    """FedSpeed (Sun et al. 2023) is FedAvg with a proximal term, its correction and perturbed gradients.

        g1 = g(y),  g2 = g(y + rho g1 / |g1|)                             on one minibatch
        y  <- y - lr ((1 - alpha) g1 + alpha g2 - c + (y - x) / lam)      K times, from y = x
        c  <- c - (y_K - x) / lam
        h  <- h - |S|/m mean_S(y_K - x) / lam,   x <- mean_S(y_K) - lam h

    c is the paper's prox-correction g-hat, 0 at first, and h is the mean of c over all m clients, as in FedDyn. This is
    ``mean: all``, as in the code that the authors released. Algorithm 1 as it is printed is ``mean: active``, in which
    a client's own c changes x whenever the client is active:

        send y_K - lam c,   x <- mean_S(what was sent)

    Under full participation the two are equal. If few of many clients are active, Algorithm 1 does not converge where
    clients differ. The authors' code differs in three more points, of which two belong to the training of networks:

        u  = (1 - alpha) g1 + alpha g2 - c - x / lam,   y <- y - lr (min(1, clip / |u|) u + y / lam + decoupled y)

    It clips u at norm 10 (``clip``). And its gradients g1 and g2 are without weight decay, which is added to the step
    (``decoupled``): g here is the problem's gradient, which contains its l2, minus decoupled y. It takes g2 alone, as
    with ``alpha: 1``.

    rho is the paper's rho_0. Section 5.3 divides the ascent step by |g1|; without ``normalise`` it is rho g1, as in
    Algorithm 1, line 8. The other three switches are those of Table 7. Without ``perturbation``, the gradient is g1 and
    g2 is not computed. Without ``correction``, c stays 0 and y_K is sent. Without ``prox``, (y - x) / lam is left out,
    and ``correction`` must be off. With none of the three this is FedAvg; with ``prox`` only, it is FedProx.
    """

    name = "fedspeed"
    label = "FedSpeed"
    cite = "sun2023"

    lr: float = option(doc="local step size eta_l", above=0, advice="1/L_max")
    lam: float = option(
        10.0, doc="inverse weight lambda of the proximal term", above=0, search=("0.1/L_max", "100/L_max")
    )
    alpha: float = option(0.9375, doc="weight alpha of the perturbed gradient", low=0, high=1)
    rho: float = option(0.1, doc="step size rho_0 of the ascent step", low=0, search=(0.001, 1.0))
    normalise: bool = option(True, doc="whether the ascent step is divided by |g1|")
    prox: bool = option(True, doc="whether local steps have the proximal term")
    correction: bool = option(True, doc="whether local steps have the prox-correction")
    perturbation: bool = option(True, doc="whether local steps have the perturbed gradient")
    mean: Literal["active", "all"] = option("all", doc="the clients over which corrections are averaged")
    clip: float | None = option(
        None, doc="largest norm of the step's part without y / lam and decoupled weight decay; none by default", above=0
    )
    decoupled: float = option(
        0.0, doc="weight decay in the problem's gradients that is neither perturbed nor clipped", low=0
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.correction and not self.prox:
            raise UserError(f"{self.title()}: correction corrects the proximal term: it must be off where prox is")

    def init(self, x0: Array) -> tuple[State, State]:
        if not self.correction:
            return State(x=x0), State()
        server = State(x=x0) if self.mean == "active" else State(x=x0, h=zeros_like(x0))
        return server, State(c=zeros_like(x0))

    def client(self, s: State, i: State, steps: Steps) -> tuple[State, State]:
        y = s.x
        for g in steps:
            q = self.quasi_gradient(g, y)
            if self.correction:
                q = q - i.c
            if self.clip is not None:
                q = self.clipped(q, s.x) + (y / self.lam if self.prox else 0)
            elif self.prox:
                q = plus(q, 1 / self.lam, y - s.x)
            if self.decoupled:
                q = plus(q, self.decoupled, y)
            y = plus(y, -self.lr, q)  # line 11
        if not self.correction:
            return State(x=y), State()
        c = i.c - (y - s.x) / self.lam  # line 13
        return State(x=y - self.lam * c if self.mean == "active" else y), State(c=c)

    def quasi_gradient(self, g: Gradient, y: Array) -> Array:
        """Return the quasi-gradient of lines 7 to 10: a mean of the gradients at y and after an ascent step."""
        g1 = self.without_decay(g, y)
        if not self.perturbation:
            return g1
        length = norm(g1) if self.normalise else 1
        g2 = self.without_decay(g, plus(y, self.rho / (length + (length == 0)), g1))
        return mix(g1, g2, self.alpha)

    def without_decay(self, g: Gradient, y: Array) -> Array:
        """Return the gradient at y without decoupled weight decay."""
        return plus(g(y), -self.decoupled, y) if self.decoupled else g(y)

    def clipped(self, q: Array, x: Array) -> Array:
        """Return q - x / lam, or q without prox, scaled to a norm of at most ``clip``."""
        assert self.clip is not None
        u = plus(q, -1 / self.lam, x) if self.prox else q
        return u * (self.clip / maximum(norm(u), self.clip))

    def server(self, s: State, mean: State, n: Round) -> State:
        if not self.correction or self.mean == "active":
            return State(x=mean.x)
        h = s.h - n.active / n.clients * (mean.x - s.x) / self.lam
        return State(x=mean.x - self.lam * h, h=h)
