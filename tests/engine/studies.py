"""What tests of studies share: the declaration of one, runs, and local steps outside of the engine."""

from dataclasses import dataclass

import numpy as np

from fedatlas import Algorithm, State, option
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation
from tests.helpers import logistic

M, T, LR, K = 5, 6, 0.1, 3


def study(cls):
    """Name a class and make it a kind."""
    cls.name, cls.label = cls.__name__.lower(), cls.__name__
    return dataclass(frozen=True, kw_only=True)(cls)


def descend(self, y, steps):
    """Return models after the local steps of a block of clients."""
    for g in steps:
        y = y - self.lr * g(y)
    return y


@dataclass(frozen=True, kw_only=True)
class Local(Algorithm):
    """Local steps, whose changes are sent and added to the model."""

    lr: float = option(LR, doc="local step size", above=0)

    def client(self, s, i, steps):
        return State(delta=descend(self, s.x, steps) - s.x)

    def server(self, s, mean, n):
        return State(x=s.x + mean.delta)


def simulation(cls, problem=None, block=None, **options):
    """Return a run of a study."""
    setting = {"clients": M, "rounds": T, "local_steps": K, "batch": 2, "eval_rounds": 2} | options
    return Simulation(cls(), logistic() if problem is None else problem, Setting(**setting), 1, block)


def local(run, t, i, y, lr=LR):
    """Return a client's model after its local steps of round t."""
    for k in range(K):
        y = y - lr * gradient(run, t, k, i)(y)
    return y


def gradient(run, t, k, i):
    """Return the gradient of client i on its minibatch of step k in round t, as a function."""
    draws = run.sampler.draw(t, np.arange(M), K)
    return lambda y: run.problem.batch(np.array([i]), draws[i : i + 1, k]).grad(y)[0]
