"""A small algorithm that passes all conformance tests, and others that each fail one, by a typical mistake."""

from dataclasses import dataclass

import numpy as np

from fedatlas.federation.algorithms import Algorithm
from fedatlas.federation.algorithms.fedavg import FedAvg
from fedatlas.federation.arrays import State, norm, zeros_like
from fedatlas.federation.channels import Note
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class Sound(Algorithm):
    """Sound (Author et al. 2026) is FedAvg with momentum at the server, which clients get."""

    name = "sound"
    label = "Sound"
    cite = "mcmahan2017"
    broadcast = ("x", "m")
    records = ("step",)

    lr: float = option(doc="local step size", above=0)
    beta: float = option(0.5, doc="weight of the momentum", low=0, below=1)
    period: int = option(2, doc="rounds between two restarts of the count", unit="rounds", low=1)

    def init(self, x0):
        return State(x=x0, m=zeros_like(x0), distance=norm(x0) * 0), State(rounds=0.0)

    def client(self, s, i, steps):
        y = s.x
        for g in steps:
            steps.record(step=norm(y))
            y = y - self.lr * (g(y) - self.beta * s.m)
        return State(delta=y - s.x, length=Note(norm(y - s.x))), State(rounds=i.rounds + 1)

    def server(self, s, mean, n):
        return State(x=s.x + mean.delta, m=mean.delta / n.steps, distance=mean.length)


def broken(test, words):
    """Return a class decorator.

    Args:
        test: Name of the conformance test that must fail.
        words: Regular expression in its sentence.
    """

    def mark(cls):
        cls.__doc__ = cls.__doc__ or Sound.__doc__
        BROKEN.append(cls)
        cls.expected, cls.words = test, words
        return cls

    return mark


BROKEN = []


@broken("runs", "not finite after round 1.*--set")
class Dividing(Sound):
    def server(self, s, mean, n):
        return s.replace(x=s.x + mean.delta / (n.clients - 5))


@broken("runs", "NameError.*broken.py, line [0-9]+, in client")
class Unfinished(Sound):
    def client(self, s, i, steps):
        return State(delta=velocity), State()  # noqa: F821


@broken("runs", "stays at the start")
class Idle(Sound):
    def server(self, s, mean, n):
        return s


@broken("seeds", "numpy.random")
class Noisy(Sound):
    def server(self, s, mean, n):
        state = super().server(s, mean, n)
        return state.replace(x=state.x * (1 + 1e-3 * np.random.default_rng().random()))


@broken("blocks", "sums and norms go along the last axis")
class Centred(Sound):
    def client(self, s, i, steps):
        message, state = super().client(s, i, steps)
        return message.replace(delta=message.delta - 0.1 * message.delta.mean(0)), state


@broken("checkpoint", "in the States that hooks return")
class Remembering(Sound):
    def server(self, s, mean, n):
        object.__setattr__(self, "velocity", 0.5 * getattr(self, "velocity", 0) + mean.delta)
        return super().server(s, mean.replace(delta=self.velocity), n)


@broken("checkpoint", "cannot be saved.*real numbers")
class Counting(Sound):
    def init(self, x0):
        s, i = super().init(x0)
        return s.replace(rounds=frozenset()), i

    def server(self, s, mean, n):
        return super().server(s, mean, n).replace(rounds=s.rounds | {n.round})


@broken("recurrence", "leave recurrence out")
class Inherited(FedAvg):
    """FedAvg (McMahan et al. 2017) is not this."""

    name = "inherited"

    def client(self, s, i, steps):
        message, state = super().client(s, i, steps)
        return State(**{name: 0.5 * value for name, value in message.items()}), state


@broken("runs", "server changes x in place.*`x = x . ...`")
class InPlace(Sound):
    def server(self, s, mean, n):
        x = s.x
        x += mean.delta
        return super().server(s, mean, n).replace(x=x)


@broken("costs", r"Clients read s.m.*broadcast = \('x', 'm'\)")
class Undeclared(Sound):
    broadcast = ("x",)


@broken("costs", "broadcast names 'm', but no client reads it")
class Wasteful(Sound):
    def client(self, s, i, steps):
        return super().client(State(x=s.x, m=0.0), i, steps)


@broken("costs", "What clients get depends on delta, which is sent as a Note")
class Smuggling(Sound):
    def client(self, s, i, steps):
        message, state = super().client(s, i, steps)
        return message.replace(delta=Note(message.delta)), state


@broken("costs", r"Clients read s.m, which is not counted.*broadcast = \('m',\)")
class Silent(Sound):
    """Sound (Author et al. 2026) is local training, whose clients get the server's momentum in secret."""

    broadcast = ()

    def init(self, x0):
        return State(x=x0, m=zeros_like(x0)), State(x=x0, rounds=0.0)

    def client(self, s, i, steps):
        y = i.x
        for g in steps:
            steps.record(step=norm(y))
            y = y - self.lr * (g(y) - self.beta * s.m)
        return State(delta=y - i.x), State(x=y, rounds=i.rounds + 1)

    def server(self, s, mean, n):
        return State(x=s.x + mean.delta, m=mean.delta / n.steps)


@broken(
    "numpy-and-torch",
    "hook calls NumPy with a torch tensor.*fedatlas.federation.arrays.*broken.py, line [0-9]+, in client",
)
class NumPyOnly(Sound):
    def client(self, s, i, steps):
        message, state = super().client(s, i, steps)
        return message.replace(
            length=Note(0.5 * norm(message.delta) + 0 * np.linalg.norm(message.delta, axis=-1)[:, None])
        ), state


@broken("partial-participation", "leaves the common minimiser.*send changes")
class Scaled(Sound):
    def server(self, s, mean, n):
        return super().server(s, mean, n).replace(x=(s.x + mean.delta) * (n.active / n.clients))


@broken("unseen-clients", "data of a client that never takes part")
class Omniscient(Sound):
    def with_constants(self, problem):
        algorithm = super().with_constants(problem)
        object.__setattr__(algorithm, "problem", problem)
        return algorithm

    def server(self, s, mean, n):
        everything = self.problem.full_batch(np.arange(n.clients)).grad(s.x)
        return super().server(s, mean.replace(delta=mean.delta - 0.01 * everything.mean(0)), n)


@broken("empty-rounds", "moves though no client was active: return s from empty_round")
class Restless(Sound):
    def empty_round(self, s, n):
        return s.replace(x=0.9 * s.x)


@broken("optimum", "above the optimum: correct the hooks, write `corrects_drift = False`")
class Boasting(Sound):
    corrects_drift = True


@broken("rate", "a round multiplies the squared distance")
class Rapid(Sound):
    def rate(self, c):
        return 0.01
