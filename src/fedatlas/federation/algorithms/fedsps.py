"""Stochastic Polyak step sizes (Mukherjee et al. 2024, arXiv:2307.06306; Loizou et al. 2021, arXiv:2002.10542).

``l_star`` is a lower bound on every loss, such as 0 for losses that are not negative. With ``record: [step_size]`` the
setting keeps the step sizes of every client and local step. FedSPS also records ``at_bound``, 1 where the step size is
its bound and 0 elsewhere.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

from fedatlas.federation.algorithms import Algorithm
from fedatlas.federation.arrays import Array, State, dot, maximum, minimum, sqrt, where
from fedatlas.federation.engine.steps import Round, Steps
from fedatlas.registry.options import option

# Bounds end here, before they become infinite: an infinite step along a gradient that is 0 would be no number.
LARGEST = 1e30


def polyak(loss: Array, g: Array, l_star: float = 0.0) -> Array:
    """Return (loss - l*) / |g|^2 of each row, never negative: (m, 1).

    Where g is 0, the value is 0 if the loss is l*, and infinity if it is larger.

    Args:
        loss: Losses, (m, 1).
        g: Gradients, (m, d).
        l_star: Lower bound l* on every loss.
    """
    gap, square = maximum(loss - l_star, 0), dot(g, g)
    flat = square == 0
    return where(flat & (gap > 0), math.inf, gap / (square + flat))


@dataclass(frozen=True, kw_only=True)
class Polyak(Algorithm):
    """The common part of the algorithms with stochastic Polyak step sizes."""

    cite = "mukherjee2024"
    records: ClassVar[tuple[str, ...]] = ("step_size",)

    gamma_b: float = option(1.0, doc="largest step size gamma_b", above=0, search=("0.1/L_max", "100/L_max"))
    c: float = option(0.5, doc="scale c, by which step sizes are divided", above=0, search=(0.1, 10.0))
    l_star: float = option(0.0, doc="lower bound l* on every loss")

    def step(self, loss: Array, g: Array, bound: Array | float) -> Array:
        """Return the step sizes min((loss - l*) / (c |g|^2), bound) of each row: (m, 1)."""
        return minimum(polyak(loss, g, self.l_star) / self.c, bound)

    def server(self, s: State, mean: State, n: Round) -> State:
        return State(x=s.x + mean.delta)


@dataclass(frozen=True, kw_only=True)
class FedSPS(Polyak):
    """FedSPS (Mukherjee et al. 2024, Algorithm 1) is FedAvg in which every local step has its own Polyak step size.

        step = min((loss_B(y) - l*) / (c |g(y)|^2), gamma_b)       of each client and local step
        y <- y - step g(y)                                         K times, from y = x
        x <- mean_S(y)

    With ``smoothing``, each client has its own bound in place of gamma_b. It is gamma_b at first and changes after each
    of the client's local steps, in all rounds. The step's minibatch has |B| of the client's m_i samples.

        bound <- 2^(|B| / m_i) bound      with ``bound``: Section 6 of the paper
        bound <- 2^(|B| / m_i) step       with ``step``: Loizou et al. 2021, with the last step size that was not 0
    """

    name = "fedsps"
    label = "FedSPS"
    records = ("step_size", "at_bound")

    smoothing: Literal["none", "bound", "step"] = option("none", doc="how the bound on the step size changes")

    def init(self, x0: Array) -> tuple[State, State]:
        return State(x=x0), State() if self.smoothing == "none" else State(bound=self.gamma_b)

    def client(self, s: State, i: State, steps: Steps) -> tuple[State, State]:
        y, _, bound = self.local_steps(s, i, steps)
        return State(delta=y - s.x), i.replace(bound=bound) if "bound" in i else i

    def local_steps(self, s: State, i: State, steps: Steps) -> tuple[Array, Array | float, Array | float]:
        """Return, after the local steps, y (m, d), the sum nu of the step sizes (m, 1) and the next bound (m, 1)."""
        nu: Array | float = 0
        bound: Array | float = self.gamma_b if self.smoothing == "none" else i.bound
        y = s.x
        for g in steps:
            loss, grad = g.value_and_grad(y)
            step = self.step(loss, grad, bound)
            steps.record(step_size=step, at_bound=step >= bound)
            y, nu = y - step * grad, nu + step
            if self.smoothing == "bound":
                bound = minimum(2**steps.share * bound, LARGEST)
            elif self.smoothing == "step":
                bound = minimum(2**steps.share * where(step > 0, step, bound), LARGEST)
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

    def client(self, s: State, i: State, steps: Steps) -> tuple[State, State]:
        y, nu, bound = self.local_steps(s, i, steps)
        nu = maximum(nu, 1e-30)
        return State(delta=(y - s.x) / nu, weight=1 / nu), i.replace(bound=bound) if "bound" in i else i

    def server(self, s: State, mean: State, n: Round) -> State:
        return State(x=s.x + mean.delta / mean.weight)


@dataclass(frozen=True, kw_only=True)
class FedDecSPS(Polyak):
    """FedDecSPS (Mukherjee et al. 2024, Section 5; Orvieto et al. 2022) is FedSPS with step sizes that decrease.

        step_t = min((loss_B(y) - l*) / |g(y)|^2, c_{t-1} step_{t-1}) / c_t,      c_t = c sqrt(t + 1)
        y <- y - step_t g(y)                                                       K times, from y = x
        x <- mean_S(y)

    t counts the client's local steps in all rounds. At first c_{-1} step_{-1} = c gamma_b. With decreasing step sizes
    the method converges to the optimum even where FedSPS does not.

    With ``memory: restarted``, t and c_{t-1} step_{t-1} start anew in every round, as with an optimiser that a client
    makes for each round; the code of FedAMS, which the paper builds on, does so.
    """

    name = "feddecsps"
    label = "FedDecSPS"

    memory: Literal["kept", "restarted"] = option(
        "kept", doc="whether a client goes on with its decreasing step sizes in later rounds, or restarts in each"
    )

    def init(self, x0: Array) -> tuple[State, State]:
        return State(x=x0), self._first() if self.memory == "kept" else State()

    def _first(self) -> State:
        return State(t=0, product=self.c * self.gamma_b)

    def client(self, s: State, i: State, steps: Steps) -> tuple[State, State]:
        before = i if self.memory == "kept" else self._first()
        y, t, product = s.x, before.t, before.product
        for g in steps:
            loss, grad = g.value_and_grad(y)
            product = minimum(polyak(loss, grad, self.l_star), product)
            step = product / (self.c * sqrt(t + 1))
            steps.record(step_size=step)
            y, t = y - step * grad, t + 1
        return State(delta=y - s.x), State(t=t, product=product) if self.memory == "kept" else State()


@dataclass(frozen=True, kw_only=True)
class FedSPSGlobal(Polyak):
    """FedSPS-Global (Mukherjee et al. 2024, Algorithm 3) is FedAvg with one Polyak step size for all clients.

        y <- y - gamma g(y)                                        K times, from y = x
        x <- mean_S(y)
        gamma <- mean_S min((loss_B(y) - l*) / (c |g(y)|^2), gamma_b)       of the last local step

    That is formula (a) of Appendix D.2.2, ``aggregation: steps``. The other two are formed of means over clients:

        gamma <- min(mean_S(loss_B(y) - l*) / (c mean_S |g(y)|^2), gamma_b)     formula (b), ``norms``
        gamma <- min(mean_S(loss_B(y) - l*) / (c |mean_S g(y)|^2), gamma_b)     formula (c), ``gradients``

    The first gamma is the Polyak step size of client 0 on its first minibatch, as in Appendix D.2.3. If clients are
    sampled, it is that of the active client of lowest number in the first round. It is one number, sent to all before
    that round.
    """

    name = "fedsps-global"
    label = "FedSPS-Global"
    broadcast = ("x", "gamma")

    aggregation: Literal["steps", "norms", "gradients"] = option(
        "steps", doc="what is averaged over clients for the step size, besides the losses"
    )

    def before(self, s: State, i: State, steps: Steps) -> State:
        if "gamma" in s:
            return State()
        loss, grad = next(iter(steps)).value_and_grad(s.x)
        return State(gamma=steps.pick(self.step(loss, grad, self.gamma_b), first=True))

    def client(self, s: State, i: State, steps: Steps) -> tuple[State, State]:
        y = s.x
        for g in steps:
            loss, grad = g.value_and_grad(y)
            steps.record(step_size=s.gamma)
            y = y - s.gamma * grad
        if self.aggregation == "steps":
            return State(delta=y - s.x, gamma=self.step(loss, grad, self.gamma_b)), State()
        if self.aggregation == "norms":
            return State(delta=y - s.x, loss=loss, square=dot(grad, grad)), State()
        return State(delta=y - s.x, loss=loss, gradient=grad), State()

    def server(self, s: State, mean: State, n: Round) -> State:
        x = s.x + mean.delta
        if self.aggregation == "steps":
            return State(x=x, gamma=mean.gamma)
        norm = sqrt(mean.square) if self.aggregation == "norms" else mean.gradient
        return State(x=x, gamma=self.step(mean.loss, norm, self.gamma_b))


@dataclass(frozen=True, kw_only=True)
class SPS(Polyak):
    """SPS (Loizou et al. 2021) is minibatch SGD with the stochastic Polyak step size SPS_max of the mean loss.

        x <- x - min((f - l*) / (c |g|^2), gamma_b) g

    f and g are the means of losses and of gradients at x, over clients and the round's K minibatches. It is called
    "global SPS" in Example 1 of FedSPS.
    """

    name = "sps"
    label = "SPS"
    cite = "loizou2021"
    records = ()

    def client(self, s: State, i: State, steps: Steps) -> tuple[State, State]:
        f = G = 0
        for g in steps:
            loss, grad = g.value_and_grad(s.x)
            f, G = f + loss / len(steps), G + grad / len(steps)
        return State(f=f, g=G), State()

    def server(self, s: State, mean: State, n: Round) -> State:
        return State(x=s.x - self.step(mean.f, mean.g, self.gamma_b) * mean.g)
