"""States may be frozen dataclasses with typed fields: the engine gives hooks back the classes that they return."""

from dataclasses import dataclass

import numpy as np
import pytest

from fedatlas import Algorithm, Array, Round, Steps, Vectors, option, stream, train
from fedatlas.arrays import zeros_like
from fedatlas.federation.engine.exchanges import ClientWork
from fedatlas.federation.engine.setting import Setting
from tests.helpers import quadratic


@dataclass(frozen=True)
class Server(Vectors):
    x: Array
    c: Array


@dataclass(frozen=True)
class Client(Vectors):
    c: Array


@dataclass(frozen=True)
class Message(Vectors):
    y: Array
    c: Array


@dataclass(frozen=True, kw_only=True)
class Typed(Algorithm):
    """Typed (Karimireddy et al. 2020) is SCAFFOLD, whose States are dataclasses."""

    name = "typed"
    label = "Typed"
    broadcast = ("x", "c")

    lr: float = option(doc="step size", above=0)

    def init(self, x0: Array) -> tuple[Server, Client]:
        return Server(x0, zeros_like(x0)), Client(zeros_like(x0))

    def client(self, s: Server, i: Client, steps: Steps) -> tuple[Message, Client]:
        assert isinstance(s, Server) and isinstance(i, Client)
        y = s.x
        for g in steps:
            y = y - self.lr * (g(y) - i.c + s.c)
        c_new = i.c - s.c + (s.x - y) / (len(steps) * self.lr)
        return Message(y - s.x, c_new - i.c), Client(c_new)

    def server(self, s: Server, mean: Message, n: Round) -> Server:
        assert isinstance(s, Server) and isinstance(mean, Message)
        return Server(s.x + mean.y, s.c + n.active / n.clients * mean.c)


SETTING = {"clients": 6, "rounds": 8, "local_steps": 3, "batch": 2, "lr": 0.05}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"participation": {"kind": "uniform", "count": 3}},
        {"channel": {"up": {"kind": "qsgd", "levels": 4}, "down": "natural"}},
        {"driver": {"kind": "asynchronous", "buffer": 2, "concurrency": 3, "staleness": 0}},
    ],
    ids=["plain", "participation", "channels", "asynchronous"],
)
def test_an_algorithm_with_typed_states_has_the_bits_of_one_without(options):
    problem = {"kind": "quadratic", "dim": 5, "similarity": 0.5, "noise": 0.1}
    typed, plain = (train(algorithm, problem, **SETTING, **options) for algorithm in (Typed, "scaffold"))
    assert typed.drop(columns="seconds").equals(plain.drop(columns="seconds"))
    assert typed.attrs["x"].tobytes() == plain.attrs["x"].tobytes()


def test_each_client_has_its_own_draws_in_any_block():
    def draws(ids):
        round = Round(round=4, order=np.arange(9), setting=Setting(clients=9, rounds=5), steps=1, seed=7)
        steps = Steps(quadratic(), np.array(ids), None, round, ClientWork(np.array(ids)))
        return [rng.random() for rng in steps.client_rngs()]

    assert draws([2, 5, 8, 1]) == [*draws([2]), *draws([5, 8]), *draws([1])]
    assert len({*draws(range(9))}) == 9
    assert draws([5]) == [stream(7, "algorithm", 4, 3, 5).random()]
