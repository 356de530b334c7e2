"""Mime, MimeLite and MimeMVR (Karimireddy et al. 2021, arXiv:2008.03606)."""

from dataclasses import dataclass

from fedatlas.federation.algorithms import Algorithm
from fedatlas.federation.arrays import Array, State, zeros_like
from fedatlas.federation.engine.steps import Round, Steps
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class MimeLite(Algorithm):
    """MimeLite (Karimireddy et al. 2021, Algorithm 1) is FedAvg with the server's momentum in the local steps.

        y <- y - lr ((1 - beta) g(y) + beta m)              K times, from y = x, with m fixed
        m <- (1 - beta) c + beta m,   c = mean_S G_i(x),    x <- mean_S y_K

    The base optimiser of the paper's framework is here SGD with momentum. m is 0 at first.
    """

    name = "mimelite"
    label = "MimeLite"
    cite = "karimireddy2021"
    broadcast = ("x", "m")

    lr: float = option(doc="local step size", above=0, advice="1/L_max")
    beta: float = option(0.9, doc="momentum beta", low=0, below=1, search=(0.1, 0.95))

    def init(self, x0: Array) -> tuple[State, State]:
        return State(x=x0, m=zeros_like(x0)), State()

    def client(self, s: State, i: State, steps: Steps) -> tuple[State, State]:
        y = s.x
        for g in steps:
            y = y - self.lr * ((1 - self.beta) * g(y) + self.beta * s.m)
        return State(y=y, c=steps.full(s.x)), State()

    def server(self, s: State, mean: State, n: Round) -> State:
        return State(x=mean.y, m=(1 - self.beta) * mean.c + self.beta * s.m)


@dataclass(frozen=True, kw_only=True)
class Mime(MimeLite):
    """Mime (Karimireddy et al. 2021, Algorithm 1) is MimeLite with a correction of the gradients as in SVRG.

    c = mean_S G_i(x)                                       in a first exchange
    y <- y - lr ((1 - beta) (g(y) - g(x) + c) + beta m)     K times, from y = x; g(y) and g(x) on one minibatch
    m <- (1 - beta) c + beta m,   x <- mean_S y_K
    """

    name = "mime"
    label = "Mime"
    corrects_drift = True

    def before(self, s: State, i: State, steps: Steps) -> State:
        return State(c=steps.full(s.x))

    def client(self, s: State, i: State, steps: Steps) -> tuple[State, State]:
        y = s.x
        for g in steps:
            y = y - self.lr * ((1 - self.beta) * (g(y) - g(s.x) + s.c) + self.beta * s.m)
        return State(y=y), State()

    def server(self, s: State, mean: State, n: Round) -> State:
        return State(x=mean.y, m=(1 - self.beta) * s.c + self.beta * s.m)


@dataclass(frozen=True, kw_only=True)
class MimeMVR(Algorithm):
    """MimeMVR (Karimireddy et al. 2021) is Mime with momentum-based variance reduction.

        y <- y - lr (a g(y) + (1 - a) m + (1 - a) (g(y) - g(x)))        K times, from y = x; g(y), g(x) on one minibatch
        m <- a c(x) + (1 - a) m + (1 - a) (c(x) - c(x')),   x' <- x,   x <- mean_S y_K

    c(x) = mean_S G_i(x). x' is the model of the round before, x at first. m is 0 at first.
    """

    name = "mime-mvr"
    label = "MimeMVR"
    cite = "karimireddy2021"
    broadcast = ("x", "last", "m")

    lr: float = option(doc="local step size", above=0, advice="1/L_max")
    a: float = option(0.1, doc="weight a of the new gradient in the momentum", above=0, high=1, search=(0.03, 1.0))

    def init(self, x0: Array) -> tuple[State, State]:
        return State(x=x0, last=x0, m=zeros_like(x0)), State()

    def client(self, s: State, i: State, steps: Steps) -> tuple[State, State]:
        a, y = self.a, s.x
        for g in steps:
            at_y = g(y)
            y = y - self.lr * (a * at_y + (1 - a) * s.m + (1 - a) * (at_y - g(s.x)))
        c = steps.full(s.x)
        return State(y=y, c=a * c + (1 - a) * (c - steps.full(s.last))), State()

    def server(self, s: State, mean: State, n: Round) -> State:
        return State(x=mean.y, last=s.x, m=mean.c + (1 - self.a) * s.m)
