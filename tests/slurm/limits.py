"""Two algorithms that meet limits: one takes 1.5 GB, one a hundred seconds for forty rounds."""

import time
from dataclasses import dataclass

import numpy as np

from fedatlas import Algorithm, Array, Round, State, Steps, option


@dataclass(frozen=True, kw_only=True)
class Hungry(Algorithm):
    """Gradient descent that holds 1.5 GB for four seconds."""

    name = "hungry"
    lr: float = option(doc="step size", above=0)

    def init(self, x0: Array) -> tuple[State, State]:
        return State(x=x0), State()

    def client(self, s: State, i: State, steps: Steps) -> tuple[State, State]:
        y = s.x
        for g in steps:
            y = y - self.lr * g(y)
        return State(y=y), State()

    def server(self, s: State, mean: State, n: Round) -> State:
        if n.round == 0:
            memory = np.ones(190_000_000)
            time.sleep(4)
            del memory
        return State(x=mean.y)


@dataclass(frozen=True, kw_only=True)
class Slow(Hungry):
    """The same without the memory, of which each round waits 2.5 seconds."""

    name = "slow"

    def server(self, s: State, mean: State, n: Round) -> State:
        time.sleep(2.5)
        return State(x=mean.y)
