"""CE-LGD (Patel et al. 2022, NeurIPS)."""

from dataclasses import dataclass

from fedatlas.algorithms.base import Algorithm
from fedatlas.arrays import State, zeros_like
from fedatlas.options import option


@dataclass(frozen=True, kw_only=True)
class CELGD(Algorithm):
    """CE-LGD: a variance-reduced server estimate and local SARAH steps on one client (Patel et al. 2022).

        v <- mean_i G_i(x) + (1 - b) (v - mean_i G_i(x')),   x' the model one round earlier; v = mean_i G_i(x) at first
        one client drawn at random, from y = x and u = v:  K times  u <- u + g(y) - g(y'),   y' <- y,   y <- y - lr u
        x <- y_K

    g is taken on one minibatch at y and at y', the iterate before y; for the first step both are x.
    """

    name = "ce-lgd"
    label = "CE-LGD"
    cite = "patel2022"
    full = True
    solo = True
    exact = True

    lr: float = option(doc="local step size", above=0)
    b: float = option(1.0, doc="weight of the new gradient in the server's estimate", above=0, high=1)

    def init(self, x0):
        return State(x=x0, last=x0, v=zeros_like(x0)), State()

    def before(self, s, i, steps):
        G = steps.full(s.x)
        if steps.round == 0 or self.b == 1:
            return State(d=G)
        return State(d=G - (1 - self.b) * steps.full(s.last))

    def estimate(self, s):
        """v of this round."""
        return s.d + (1 - self.b) * s.v

    def client(self, s, i, steps):
        y, last, u = s.x, None, self.estimate(s)
        for g in steps:
            if last is not None:
                u = u + g(y) - g(last)
            y, last = y - self.lr * u, y
        return State(x=y), State()

    def server(self, s, mean, n):
        return State(x=mean.x, last=s.x, v=self.estimate(s))
