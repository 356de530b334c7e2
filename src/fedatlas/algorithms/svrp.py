"""SVRP (Khaled & Jin 2023, arXiv:2209.02257)."""

from dataclasses import dataclass
from math import sqrt

from fedatlas.algorithms.base import Algorithm
from fedatlas.arrays import State, zeros_like
from fedatlas.options import option


@dataclass(frozen=True, kw_only=True)
class SVRPGD(Algorithm):
    """SVRP-GD: stochastic variance-reduced proximal point, proximal steps by gradient descent (Khaled & Jin 2023).

        of one client i drawn at random:  x <- prox_{eta f_i}(x - eta (mean_j G_j(w) - G_i(w)))
        w <- x with probability p

    The proximal step takes K gradient steps from x, y <- y - lr (G_i(y) + mean_j G_j(w) - G_i(w) + (y - x) / eta).
    All clients send G_j(w) in the rounds after w was renewed. Theory: eta = mu / (2 delta_A^2), p = 1/m.
    """

    name = "svrp-gd"
    label = "SVRP-GD"
    cite = "khaled2023"
    full = True
    solo = True
    exact = True

    lr: float = option(doc="step size of the local solver", above=0)
    eta: float = option(doc="proximal step size", above=0)
    p: float = option(doc="probability that the anchor w is renewed", above=0, high=1)

    def init(self, x0):
        return State(x=x0, w=x0, g=zeros_like(x0), renewed=True), State(g=zeros_like(x0))

    def before(self, s, i, steps):
        if not s.renewed:
            return State()
        G = steps.full(s.w)
        return State(g=G), State(g=G)

    def client(self, s, i, steps):
        y = s.x
        for _ in range(len(steps)):
            y = y - self.lr * (steps.full(y) + s.g - i.g + (y - s.x) / self.eta)
        return State(x=y), State()

    def server(self, s, mean, n):
        renewed = bool(n.rng.random() < self.p)
        return s.replace(x=mean.x, w=mean.x if renewed else s.w, renewed=renewed)

    def rate(self, c):
        """For exact proximal steps: E|x' - x*|^2 <= a |x - x*|^2 + b |w - x*|^2, a = 1/(1 + eta mu)^2 and
        b = a (eta delta_A)^2, since the proximal step of a convex f_i contracts (Khaled & Jin 2023, proof of
        Theorem 2)."""
        if c["mu_min"] < 0:
            return None
        a = 1 / (1 + self.eta * c["mu_min"]) ** 2
        b = a * (self.eta * c["delta_A"]) ** 2
        trace, determinant = a + self.p * b + 1 - self.p, a * (1 - self.p)
        largest = (trace + sqrt(trace**2 - 4 * determinant)) / 2  # eigenvalue of the recursion of x and w
        return largest if largest < 1 else None
