"""DANE (Shamir et al. 2014) and DANE+ (Jiang et al. 2024, arXiv:2404.08447): regularised drift correction."""

from dataclasses import dataclass
from math import ceil, inf, log, sqrt
from typing import Literal

from fedatlas.algorithms.base import Algorithm
from fedatlas.arrays import State, norm, zeros_like
from fedatlas.options import option

TINY = 1e-32  # what double precision does not resolve of a squared distance beside the first


@dataclass(frozen=True, kw_only=True)
class Dane(Algorithm):
    """DANE with exact subproblems (Shamir et al. 2014; Jiang et al. 2024, Algorithm 1 with control variate (1)).

        h_i = G_i(x) - mean_j G_j(x)
        y_i = argmin_y f_i(y) - <h_i, y> + lam/2 |y - x|^2
        x  <- mean_i y_i,   or one y_i drawn at random (then only that client solves)

    Theorem 4: lam >= 2 delta_A, standard averaging. Theorem 1 (non-convex): lam = 2 delta_B, one client's model.
    """

    name = "dane"
    label = "DANE"
    cite = "shamir2014"
    full = True
    exact = True
    exact_prox = True

    lam: float = option(doc="lambda, weight of lam/2 |y - x|^2", above=0)
    averaging: Literal["mean", "random"] = option("mean", doc="of the clients' models: their mean, or one at random")

    @property
    def solo(self):
        return self.averaging == "random"

    def init(self, x0):
        return State(x=x0), State(g=zeros_like(x0))

    def before(self, s, i, steps):
        G = steps.full(s.x)
        return State(g=G), State(g=G)

    def client(self, s, i, steps):
        h = i.g - s.g
        return State(x=steps.prox(s.x + h / self.lam, self.lam)), State()

    def server(self, s, mean, n):
        return State(x=mean.x)

    def rate(self, c):
        if c["mu_min"] < 0 or self.lam < 2 * c["delta_A"] or self.averaging != "mean":
            return None
        return 1 / (1 + c["mu_min"] / self.lam)


@dataclass(frozen=True, kw_only=True)
class DanePlusGD(Dane):
    """DANE+ with gradient descent on the subproblem F_i (Jiang et al. 2024, Algorithm 1).

        y <- y - lr grad F_i(y),   grad F_i(y) = G_i(y) - h_i + lam (y - x),   from y = x
        until |grad F_i(y)|^2 <= lam (mu + lam) / (8 (r+1)(r+2)) |y - x|^2    (Corollary 5)

    r counts rounds from 0; each client stops for itself, also where steps are lost in rounding. The first
    step needs no new gradient, as grad F_i(x) is mean_j G_j(x). Theory: lr = 1/(L + lam).
    """

    name = "dane+-gd"
    label = "DANE+-GD"
    cite = "jiang2024"
    exact_prox = False
    apart = True

    lr: float = option(doc="step size of the local solver", above=0)
    mu: float = option(0.0, doc="strong convexity mu of the clients, in the stopping rule; 0 is always safe", low=0)
    max_steps: int = option(1000, doc="local steps at most", low=1)

    @property
    def momentum(self):
        return 0.0

    def accuracy(self, r):
        """e_r of the stopping rule |grad F_i(y)| <= e_r |y - x|."""
        return sqrt(self.lam * (self.mu + self.lam) / (8 * (r + 1) * (r + 2)))

    @property
    def solver(self):
        """(c, q): after k steps |grad F_i| <= c q^k |x - y*|, y* the minimiser, if lr is at most 1/(L + lam)."""
        return 1 / self.lr, 1 - self.lr * (self.mu + self.lam)

    def enough(self, L, r):
        """Local steps by which clients of smoothness L and convexity mu meet the rule of round r; infinite where lr is
        larger than 1/(L + lam). As in the proof of Corollary 5: c q^k (1 + e_r / (mu + lam)) <= e_r suffices."""
        if self.lr * (L + self.lam) > 1 + 1e-9:
            return inf
        (c, q), e = self.solver, self.accuracy(r)
        return max(1, ceil(log(c * (1 / e + 1 / (self.mu + self.lam))) / -log(max(q, TINY))))

    def rate(self, c):
        """DANE's, where the rule is met in all rounds until the rate has used up double precision."""
        rate = super().rate(c) if self.mu <= c["mu_min"] else None
        if rate is None or rate == 1:
            return None
        rounds = ceil(log(TINY) / log(rate))
        return rate if self.max_steps >= self.enough(c["L_max"], rounds) else None

    def client(self, s, i, steps):
        x, h, e = s.x, i.g - s.g, self.accuracy(steps.round)
        y, z, gradient = x, x, s.g
        for k in range(self.max_steps):
            last, y = y, z - self.lr * gradient
            z = y + self.momentum * (y - last)
            if k + 1 == self.max_steps:
                break
            gradient = steps.full(z) - h + self.lam * (z - x)
            lost = norm(z) + self.lr * norm(gradient) / 64 == norm(z)  # within rounding of z: the rule may never hold
            if lost or not norm(gradient) > e * norm(z - x):  # also where numbers cease to be finite
                break
        return State(x=z), State()


@dataclass(frozen=True, kw_only=True)
class DanePlusFGD(DanePlusGD):
    """DANE+ with the fast gradient method on the subproblem (Jiang et al. 2024, Algorithm 1 and Corollary 5).

        y' = z - lr grad F_i(z),   z <- y' + b (y' - y),   b = (1 - sqrt(q)) / (1 + sqrt(q)),   q = lr (mu + lam)

    from y = z = x (Nesterov 2018, (2.2.22)), until z, where gradients are known, satisfies the rule of DANE+-GD.
    """

    name = "dane+-fgd"
    label = "DANE+-FGD"

    @property
    def momentum(self):
        q = min(1.0, self.lr * (self.mu + self.lam))
        return (1 - sqrt(q)) / (1 + sqrt(q))

    @property
    def solver(self):
        """F_i(y) - F_i* <= (1 - sqrt(q))^k (1/lr + m) |x - y*|^2 / 2, m = mu + lam (Nesterov 2018, Theorem 2.2.3), so
        |z - y*| <= 3 (1 - sqrt(q))^((k-1)/2) (1/q + 1)^(1/2) |x - y*|, and |grad F_i(z)| is at most 1/lr of that."""
        q = self.lr * (self.mu + self.lam)
        decay = sqrt(max(1 - sqrt(min(1.0, q)), TINY))
        return 3 / self.lr * sqrt(1 / q + 1) / decay, decay


@dataclass(frozen=True, kw_only=True)
class DanePlusSGD(Dane):
    """DANE+ with a fixed number of stochastic gradient steps (Jiang et al. 2024, Algorithm 1 and Appendix C).

    y <- y - lr (g(y) - h_i + lam (y - x))       K times, from y = x; h_i from full gradients
    """

    name = "dane+-sgd"
    label = "DANE+-SGD"
    cite = "jiang2024"
    exact_prox = False

    lam: float = option(doc="lambda, weight of lam/2 |y - x|^2", low=0)
    lr: float = option(doc="local step size", above=0)

    def client(self, s, i, steps):
        h, y = i.g - s.g, s.x
        for g in steps:
            y = y - self.lr * (g(y) - h + self.lam * (y - s.x))
        return State(x=y), State()

    def rate(self, c):
        return None
