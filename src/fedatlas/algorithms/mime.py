"""Mime, MimeLite and MimeMVR (Karimireddy et al. 2021, arXiv:2008.03606)."""

from dataclasses import dataclass

from fedatlas.algorithms.base import Algorithm
from fedatlas.arrays import State, zeros_like
from fedatlas.options import option


@dataclass(frozen=True, kw_only=True)
class MimeLite(Algorithm):
    """MimeLite: server momentum inside local steps (Karimireddy et al. 2021, Algorithm 1, with SGD and momentum).

    y <- y - lr ((1 - beta) g(y) + beta m)              K times, from y = x; m fixed
    m <- (1 - beta) c + beta m,   c = mean_S G_i(x),    x <- mean_S y_K
    """

    name = "mimelite"
    label = "MimeLite"
    cite = "karimireddy2021"
    down = ("x", "m")

    lr: float = option(doc="local step size", above=0)
    beta: float = option(0.9, doc="momentum", low=0, high=1)

    def init(self, x0):
        return State(x=x0, m=zeros_like(x0)), State()

    def client(self, s, i, steps):
        y = s.x
        for g in steps:
            y = y - self.lr * ((1 - self.beta) * g(y) + self.beta * s.m)
        return State(y=y, c=steps.full(s.x)), State()

    def server(self, s, mean, n):
        return State(x=mean.y, m=(1 - self.beta) * mean.c + self.beta * s.m)


@dataclass(frozen=True, kw_only=True)
class Mime(MimeLite):
    """Mime: MimeLite with a correction as in SVRG (Karimireddy et al. 2021, Algorithm 1, with SGD and momentum).

    c = mean_S G_i(x), a first exchange
    y <- y - lr ((1 - beta) (g(y) - g(x) + c) + beta m)     K times, from y = x; the same minibatch at y and x
    m <- (1 - beta) c + beta m,   x <- mean_S y_K
    """

    name = "mime"
    label = "Mime"
    exact = True

    def before(self, s, i, steps):
        return State(c=steps.full(s.x))

    def client(self, s, i, steps):
        y = s.x
        for g in steps:
            y = y - self.lr * ((1 - self.beta) * (g(y) - g(s.x) + s.c) + self.beta * s.m)
        return State(y=y), State()

    def server(self, s, mean, n):
        return State(x=mean.y, m=(1 - self.beta) * s.c + self.beta * s.m)


@dataclass(frozen=True, kw_only=True)
class MimeMVR(Algorithm):
    """MimeMVR: Mime with momentum-based variance reduction (Karimireddy et al. 2021).

        y <- y - lr (a g(y) + (1 - a) m + (1 - a) (g(y) - g(x)))        K times, from y = x; one minibatch at y and x
        m <- a c(x) + (1 - a) m + (1 - a) (c(x) - c(x')),   x' <- x,   x <- mean_S y_K

    c(x) = mean_S G_i(x) and x' is the model one round earlier, x at first; m = 0 at first.
    """

    name = "mime-mvr"
    label = "MimeMVR"
    cite = "karimireddy2021"
    down = ("x", "last", "m")

    lr: float = option(doc="local step size", above=0)
    a: float = option(0.1, doc="weight of the new gradient in the momentum", low=0, high=1)

    def init(self, x0):
        return State(x=x0, last=x0, m=zeros_like(x0)), State()

    def client(self, s, i, steps):
        a, y = self.a, s.x
        for g in steps:
            at_y = g(y)
            y = y - self.lr * (a * at_y + (1 - a) * s.m + (1 - a) * (at_y - g(s.x)))
        c = steps.full(s.x)
        return State(y=y, c=a * c + (1 - a) * (c - steps.full(s.last))), State()

    def server(self, s, mean, n):
        return State(x=mean.y, last=s.x, m=mean.c + (1 - self.a) * s.m)
