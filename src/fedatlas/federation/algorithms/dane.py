"""DANE (Shamir et al. 2014) and DANE+ (Jiang et al. 2024, arXiv:2404.08447): regularised drift correction."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, inf, log, sqrt
from typing import TYPE_CHECKING, ClassVar, Literal, Self

from fedatlas.federation.algorithms import Algorithm
from fedatlas.federation.arrays import Array, State, norm, where, zeros_like
from fedatlas.federation.engine.steps import Round, Steps
from fedatlas.registry.options import option

if TYPE_CHECKING:
    from fedatlas.federation.problems.base import Problem

TINY = 1e-32  # a squared distance this small, relative to the first, is lost in double precision


@dataclass(frozen=True, kw_only=True)
class Dane(Algorithm):
    """DANE (Shamir et al. 2014) is regularised drift correction: clients solve corrected subproblems exactly.

        h_i = G_i(x) - mean_j G_j(x)
        y_i = argmin_y f_i(y) - <h_i, y> + lam/2 |y - x|^2
        x  <- mean_i y_i

    With ``averaging: random`` the next x is y_i of one client drawn at random, and only this client solves its
    subproblem. DANE is Algorithm 1 of Jiang et al. 2024 with control variate (1). Theory: lam >= 2 delta_A with the
    mean (Theorem 4); lam = 2 delta_B with one client's model, if the objectives are not convex (Theorem 1).
    """

    name = "dane"
    label = "DANE"
    cite = "shamir2014"
    full_participation = True
    corrects_drift = True
    requires: ClassVar[tuple[str, ...]] = ("prox",)

    lam: float = option(
        doc="weight lambda of lam/2 |y - x|^2", above=0, advice="2*delta_A", search=("0.01*L_max", "10*L_max")
    )
    averaging: Literal["mean", "random"] = option(
        "mean", doc="the next x: the mean of the clients' models, or one at random"
    )

    def single_client(self) -> bool:
        return self.averaging == "random"

    def init(self, x0: Array) -> tuple[State, State]:
        return State(x=x0), State(g=zeros_like(x0))

    def before(self, s: State, i: State, steps: Steps) -> tuple[State, State]:
        G = steps.full(s.x)
        return State(g=G), State(g=G)

    def client(self, s: State, i: State, steps: Steps) -> tuple[State, State]:
        h = i.g - s.g
        return State(x=steps.prox(s.x + h / self.lam, self.lam)), State()

    def server(self, s: State, mean: State, n: Round) -> State:
        return State(x=mean.x)

    def rate(self, c: Mapping[str, float]) -> float | None:
        """Return 1/(1 + mu_min/lam) for convex clients, lam >= 2 delta_A and averaged models (Theorem 4)."""
        if c["mu_min"] < 0 or self.lam < 2 * c["delta_A"] or self.averaging != "mean":
            return None
        return 1 / (1 + c["mu_min"] / self.lam)


@dataclass(frozen=True, kw_only=True)
class DanePlusGD(Dane):
    """DANE+-GD (Jiang et al. 2024, Algorithm 1) is DANE with gradient descent on the subproblem F_i.

        y <- y - lr grad F_i(y),   grad F_i(y) = G_i(y) - h_i + lam (y - x),   from y = x
        until |grad F_i(y)|^2 <= lam (mu + lam) / (8 (r+1)(r+2)) |y - x|^2    (Corollary 5)

    r is the number of the round, from 0. Each client stops by its own rule. It also stops where a step is so small that
    rounding loses it. The first step needs no new gradient, since grad F_i(x) is mean_j G_j(x).
    Theory: lr = 1/(L + lam) with the largest L of any client, which is the constant L_max. That of the mean objective,
    the constant L, may be smaller. From lr = 2/(L_max + lam) on the rule may never hold: a warning says so.
    """

    name = "dane+-gd"
    label = "DANE+-GD"
    cite = "jiang2024"
    requires = ()

    lr: float = option(doc="step size of the local solver", above=0, advice="1/(L_max+lam)")
    mu: float = option(0.0, doc="strong convexity mu of the clients, in the stopping rule; 0 is always valid", low=0)
    max_steps: int = option(1000, doc="largest number of local steps", unit="steps", low=1, high=100_000)

    @property
    def momentum(self) -> float:
        return 0.0

    def with_constants(self, problem: "Problem") -> Self:
        algorithm, L_max = super().with_constants(problem), problem.constant("L_max")
        if L_max is not None and algorithm.lr * (L_max + algorithm.lam) > 2 * (1 + 1e-9):
            limit = 2 / (L_max + algorithm.lam)
            warnings.warn(
                f"{self.title()}: lr = {algorithm.lr:.3g} is above 2/(L_max + lam) = {limit:.3g}, so the stopping rule "
                f"may never hold, and a client then takes max_steps = {algorithm.max_steps} steps in each round; L_max "
                f"= {L_max:.3g} is the largest smoothness of any client, L that of the mean objective: take lr = "
                "1/(L_max + lam)",
                stacklevel=2,
            )
        return algorithm

    def accuracy(self, r: int) -> float:
        """Return the factor e_r of the stopping rule |grad F_i(y)| <= e_r |y - x| of round r."""
        return sqrt(self.lam * (self.mu + self.lam) / (8 * (r + 1) * (r + 2)))

    @property
    def solver(self) -> tuple[float, float]:
        """Constants (c, q) such that |grad F_i| <= c q^k |x - y*| after k steps, if lr <= 1/(L + lam).

        y* minimises F_i.
        """
        return 1 / self.lr, 1 - self.lr * (self.mu + self.lam)

    def sufficient_steps(self, L: float, r: int) -> float:
        """Return a number of local steps that suffices for the stopping rule of round r.

        As in the proof of Corollary 5, the rule holds after k steps with c q^k (1 + e_r / (mu + lam)) <= e_r. It is
        infinity if lr is larger than 1/(L + lam).

        Args:
            L: Smoothness of the clients, whose strong convexity is mu.
            r: Number of the round, from 0.
        """
        if self.lr * (L + self.lam) > 1 + 1e-9:
            return inf
        (c, q), e = self.solver, self.accuracy(r)
        return max(1, ceil(log(c * (1 / e + 1 / (self.mu + self.lam))) / -log(max(q, TINY))))

    def rate(self, c: Mapping[str, float]) -> float | None:
        """Return the rate of DANE, if the stopping rule holds in all rounds that double precision can resolve."""
        rate = super().rate(c) if self.mu <= c["mu_min"] else None
        if rate is None or rate == 1:
            return None
        rounds = ceil(log(TINY) / log(rate))
        return rate if self.max_steps >= self.sufficient_steps(c["L_max"], rounds) else None

    def client(self, s: State, i: State, steps: Steps) -> tuple[State, State]:
        x, h, e, active = s.x, i.g - s.g, self.accuracy(steps.round), None
        y = x - self.lr * s.g
        z = y + self.momentum * (y - x)
        for _ in range(1, self.max_steps):
            gradient = steps.full(z, active) - h + self.lam * (z - x)
            length, slope = norm(z), norm(gradient)
            lost = length + self.lr * slope / 64 == length  # in rounding: the rule may never hold
            unsolved = (slope > e * norm(z - x)) & ~lost  # false also of numbers that are not finite
            active = unsolved if active is None else active & unsolved
            if not active.any():
                break
            last, y = y, where(active, z - self.lr * gradient, y)
            z = where(active, y + self.momentum * (y - last), z)
        return State(x=z), State()


@dataclass(frozen=True, kw_only=True)
class DanePlusFGD(DanePlusGD):
    """DANE+-FGD (Jiang et al. 2024, Algorithm 1) is DANE with the fast gradient method on the subproblem F_i.

        y' = z - lr grad F_i(z),   z <- y' + b (y' - y),   y <- y',   from y = z = x
        b = (1 - sqrt(q)) / (1 + sqrt(q)),   q = lr (mu + lam)

    This is (2.2.22) of Nesterov 2018. Gradients are taken at z, so the rule of DANE+-GD is checked at z, and z is sent.
    """

    name = "dane+-fgd"
    label = "DANE+-FGD"

    @property
    def momentum(self) -> float:
        q = min(1.0, self.lr * (self.mu + self.lam))
        return (1 - sqrt(q)) / (1 + sqrt(q))

    @property
    def solver(self) -> tuple[float, float]:
        """(c, q) as for gradient descent, with q and m = mu + lam of this method.

        F_i(y) - F_i* <= (1 - sqrt(q))^k (1/lr + m) |x - y*|^2 / 2 (Nesterov 2018, Theorem 2.2.3). Hence |z - y*| <= 3
        (1 - sqrt(q))^((k-1)/2) (1/q + 1)^(1/2) |x - y*|, and |grad F_i(z)| is at most 1/lr of that.
        """
        q = self.lr * (self.mu + self.lam)
        decay = sqrt(max(1 - sqrt(min(1.0, q)), TINY))
        return 3 / self.lr * sqrt(1 / q + 1) / decay, decay


@dataclass(frozen=True, kw_only=True)
class DanePlusSGD(Dane):
    """DANE+-SGD (Jiang et al. 2024, Algorithm 1 and Appendix C) is DANE with K stochastic steps on the subproblem.

        y <- y - lr (g(y) - h_i + lam (y - x))       K times, from y = x

    h_i is made of full gradients, as in DANE.
    """

    name = "dane+-sgd"
    label = "DANE+-SGD"
    cite = "jiang2024"
    requires = ()

    lam: float = option(
        doc="weight lambda of lam/2 |y - x|^2", low=0, advice="2*delta_A", search=("0.01*L_max", "10*L_max")
    )
    lr: float = option(doc="local step size", above=0, advice="1/(L_max+lam)")

    def client(self, s: State, i: State, steps: Steps) -> tuple[State, State]:
        h, y = i.g - s.g, s.x
        for g in steps:
            y = y - self.lr * (g(y) - h + self.lam * (y - s.x))
        return State(x=y), State()

    def rate(self, c: Mapping[str, float]) -> float | None:
        return None
