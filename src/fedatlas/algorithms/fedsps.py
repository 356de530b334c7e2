"""Stochastic Polyak step sizes (Mukherjee et al. 2024, arXiv:2307.06306; Loizou et al. 2021, arXiv:2002.10542).

``l_star`` is a lower bound on every loss, such as 0 for losses that are not negative. With ``record: [step_size]`` the
setting keeps the step sizes of every client and local step. FedSPS also records ``at_bound``, 1 where the step size is
its bound and 0 elsewhere, and ``local_loss``, the minibatch's loss before the step.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

from fedatlas.algorithms.base import Algorithm
from fedatlas.algorithms.protocols import Array, Steps
from fedatlas.arrays import State, dot, like, maximum, minimum, sqrt, where
from fedatlas.options import option


def polyak(loss: Array, g: Array, l_star: float = 0.0) -> Array:
    """(loss - l*) / |g|^2 of each row, never negative: (m, 1).

    loss: (m, 1). g: (m, d). l_star: l*. Where g is 0, the value is 0 if the loss is l*, and infinity if it is larger.
    """
    gap, square = maximum(loss - l_star, 0), dot(g, g)
    flat = square == 0
    return where(flat & (gap > 0), math.inf, gap / (square + flat))


@dataclass(frozen=True, kw_only=True)
class Polyak(Algorithm):
    """The common part of the algorithms with stochastic Polyak step sizes."""

    cite = "mukherjee2024"
    records: ClassVar[tuple[str, ...]] = ("step_size",)

    gamma_b: float = option(1.0, doc="largest step size gamma_b", above=0)
    c: float = option(0.5, doc="scale c, by which step sizes are divided", above=0)
    l_star: float = option(0.0, doc="lower bound l* on every loss")

    def step(self, loss: Array, g: Array, bound: Array | float) -> Array:
        """The step sizes min((loss - l*) / (c |g|^2), bound) of each row: (m, 1)."""
        return minimum(polyak(loss, g, self.l_star) / self.c, bound)

    def server(self, s, mean, n):
        return State(x=s.x + mean.delta)


@dataclass(frozen=True, kw_only=True)
class FedSPS(Polyak):
    """FedSPS (Mukherjee et al. 2024, Algorithm 1) is FedAvg in which every local step has its own Polyak step size.

        step = min((loss_B(y) - l*) / (c |g(y)|^2), gamma_b)       of each client and local step
        y <- y - step g(y)                                         K times, from y = x
        x <- mean_S(y)

    With ``smoothing``, each client has its own bound in place of gamma_b. It is gamma_b at first and changes after each
    of the client's local steps, in all rounds. A minibatch has |B| of the client's m_i samples.

        bound <- 2^(|B| / m_i) bound      ``bound``: Section 6 of the paper
        bound <- 2^(|B| / m_i) step       ``step``: Loizou et al. 2021, with the last step size that was not 0
    """

    name = "fedsps"
    label = "FedSPS"
    records = ("step_size", "at_bound", "local_loss")

    smoothing: Literal["none", "bound", "step"] = option("none", doc="how the bound on the step size changes")

    def init(self, x0):
        return State(x=x0), State() if self.smoothing == "none" else State(bound=self.gamma_b)

    def client(self, s, i, steps):
        y, _, bound = self.walk(s, i, steps)
        return State(delta=y - s.x), State(bound=bound)

    def walk(self, s: State, i: State, steps: Steps) -> tuple[Array, Array | float, Array | float]:
        """The local steps. Returns the last y, the sum of the step sizes and the next bound."""
        nu: Array | float = 0
        y, bound = s.x, self.gamma_b
        if self.smoothing != "none":
            bound, growth = i.bound, 2 ** like(steps.share, s.x)
        for g in steps:
            loss, grad = g.value_and_grad(y)
            step = self.step(loss, grad, bound)
            steps.record(step_size=step, at_bound=step >= bound, local_loss=loss)
            y, nu = y - step * grad, nu + step
            if self.smoothing == "bound":
                bound = growth * bound
            elif self.smoothing == "step":
                bound = growth * where(step > 0, step, bound)
        return y, nu, bound


@dataclass(frozen=True, kw_only=True)
class FedSPSNormalized(FedSPS):
    """FedSPS-Normalized (Mukherjee et al. 2024, Algorithm 2) is FedSPS with less weight on long steps.

        y_i as in FedSPS,   nu_i = sum of the client's step sizes in this round
        x <- [sum_S y_i / nu_i] / [sum_S 1 / nu_i]

    nu_i contains all K step sizes, as Appendix D.1.1 says. The printed algorithm omits the last one, so that it would
    divide by 0 for K = 1. If all step sizes of a client are 0, the client is at an optimum of its losses; as in the
    limit, its y_i then determines the next x.
    """

    name = "fedsps-normalized"
    label = "FedSPS-Normalized"

    def client(self, s, i, steps):
        y, nu, bound = self.walk(s, i, steps)
        nu = maximum(nu, 1e-30)
        return State(delta=(y - s.x) / nu, weight=1 / nu), State(bound=bound)

    def server(self, s, mean, n):
        return State(x=s.x + mean.delta / mean.weight)


@dataclass(frozen=True, kw_only=True)
class FedDecSPS(Polyak):
    """FedDecSPS (Mukherjee et al. 2024, Section 5; Orvieto et al. 2022) is FedSPS with step sizes that decrease.

        step_t = min((loss_B(y) - l*) / |g(y)|^2, c_{t-1} step_{t-1}) / c_t,      c_t = c sqrt(t + 1)
        y <- y - step_t g(y)                                                       K times, from y = x
        x <- mean_S(y)

    t counts the client's local steps in all rounds. At first c_{-1} step_{-1} = c gamma_b. With decreasing step sizes
    the method converges to the optimum even where FedSPS does not.
    """

    name = "feddecsps"
    label = "FedDecSPS"

    def init(self, x0):
        return State(x=x0), State(t=0, product=self.c * self.gamma_b)

    def client(self, s, i, steps):
        y, t, product = s.x, i.t, i.product
        for g in steps:
            loss, grad = g.value_and_grad(y)
            product = minimum(polyak(loss, grad, self.l_star), product)
            step = product / (self.c * sqrt(t + 1))
            steps.record(step_size=step)
            y, t = y - step * grad, t + 1
        return State(delta=y - s.x), State(t=t, product=product)


@dataclass(frozen=True, kw_only=True)
class FedSPSGlobal(Polyak):
    """FedSPS-Global (Mukherjee et al. 2024, Algorithm 3) is FedAvg with one Polyak step size for all clients.

        y <- y - gamma g(y)                                        K times, from y = x
        x <- mean_S(y)
        gamma <- mean_S min((loss_B(y) - l*) / (c |g(y)|^2), gamma_b)       of the last local step

    The first gamma is the Polyak step size of client 0 on its first minibatch, as in Appendix D.2.3. If clients are
    sampled, it is that of the active client of lowest number in the first round. It is one number, sent to all before
    that round.
    """

    name = "fedsps-global"
    label = "FedSPS-Global"
    broadcast = ("x", "gamma")

    def before(self, s, i, steps):
        if "gamma" in s:
            return State()
        loss, grad = next(iter(steps)).value_and_grad(s.x)
        return State(gamma=steps.first(self.step(loss, grad, self.gamma_b)))

    def client(self, s, i, steps):
        y = s.x
        for g in steps:
            loss, grad = g.value_and_grad(y)
            steps.record(step_size=s.gamma)
            y = y - s.gamma * grad
        return State(delta=y - s.x, gamma=self.step(loss, grad, self.gamma_b)), State()

    def server(self, s, mean, n):
        return State(x=s.x + mean.delta, gamma=mean.gamma)


@dataclass(frozen=True, kw_only=True)
class SPS(Polyak):
    """SPS (Loizou et al. 2021) is minibatch SGD with the stochastic Polyak step size SPS_max of the mean loss.

        f, g = means of losses and gradients at x over clients and the round's K minibatches
        x <- x - min((f - l*) / (c |g|^2), gamma_b) g

    It is called "global SPS" in Example 1 of FedSPS.
    """

    name = "sps"
    label = "SPS"
    cite = "loizou2021"
    records = ()

    def client(self, s, i, steps):
        f = G = 0
        for g in steps:
            loss, grad = g.value_and_grad(s.x)
            f, G = f + loss / len(steps), G + grad / len(steps)
        return State(f=f, g=G), State()

    def server(self, s, mean, n):
        return State(x=s.x - self.step(mean.f, mean.g, self.gamma_b) * mean.g)
