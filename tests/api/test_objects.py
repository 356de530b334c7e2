"""``train`` and ``sweep`` take objects and classes of kinds wherever a specification names one."""

import json
from dataclasses import dataclass

import numpy as np
import pytest

import fedatlas
from fedatlas.federation.channels.qsgd import QSGD
from fedatlas.federation.channels.top_k import TopK
from fedatlas.federation.participation.uniform import Uniform
from fedatlas.federation.schedules.exponential import Exponential

DIGITS = {"kind": "softmax", "data": "digits", "l2": 1e-3}
QUADRATIC = {"kind": "quadratic", "dim": 5, "similarity": 0.5}
OPTIONS = {"clients": 5, "rounds": 4, "lr": 0.1}


@dataclass(frozen=True, kw_only=True)
class First(fedatlas.Channel):
    """The first entries of a vector are sent."""

    name = "first"

    count: int = fedatlas.option(1, doc="entries that are sent", low=1)

    def code(self, rows, rng):
        return fedatlas.Coded(np.where(np.arange(rows.shape[1]) < self.count, rows, 0), 64 * self.count)

    def alpha(self, d):
        return 0.0


@dataclass(frozen=True, kw_only=True)
class Halving(fedatlas.Schedule):
    """The factor is halved in each round."""

    name = "halving"

    def factor(self, round):
        return 0.5**round


@dataclass(frozen=True, kw_only=True)
class ByLabel(fedatlas.Split):
    """Samples are sorted by label."""

    name = "by-label"

    down: bool = fedatlas.option(False, doc="whether the order is descending")

    def split(self, y, clients, rng):
        order = np.argsort(y, kind="stable")
        return order[::-1] if self.down else order, fedatlas.equal_sizes(len(y), clients)


@dataclass(frozen=True, kw_only=True)
class Evens(fedatlas.IndependentParticipation):
    """Clients of even number are active."""

    name = "evens"

    def at(self, p, t):
        return p * (np.arange(len(p)) % 2 == 0)


def train(problem=QUADRATIC, **options):
    """A run without its times."""
    return fedatlas.train("fedavg", problem, **OPTIONS, **options).drop(columns="seconds")


@pytest.mark.parametrize(
    ("objects", "specifications"),
    [
        ({"channel": QSGD(levels=4)}, {"channel": {"kind": "qsgd", "levels": 4, "error_feedback": False}}),
        ({"channel": {"down": TopK(count=2)}}, {"channel": {"down": {"kind": "top-k", "count": 2}}}),
        ({"participation": Uniform(count=2)}, {"participation": {"kind": "uniform", "count": 2}}),
        ({"schedule": Exponential(decay=0.9)}, {"schedule": {"kind": "exponential", "decay": 0.9}}),
    ],
    ids=["up", "down", "participation", "schedule"],
)
def test_an_object_stands_for_its_specification(objects, specifications):
    assert train(**objects).equals(train(**specifications))


def test_kinds_of_ones_own_lie_in_no_folder():
    frame = fedatlas.train(
        "fedavg",
        DIGITS | {"partition": ByLabel()},
        **OPTIONS,
        channel=First(count=3),
        schedule=Halving,
        participation=Evens(p=1.0),
    )
    assert frame["bits_up"].iloc[-1] == 4 * 3 * 64
    spec = json.loads(json.dumps(frame.attrs["spec"]))
    assert spec["setting"]["channel"] == {"kind": "first", "error_feedback": False, "count": 3}
    assert spec["setting"]["schedule"] == {"kind": "halving"} and spec["problem"]["partition"]["kind"] == "by-label"
    assert spec["setting"]["participation"] == {"kind": "evens", "p": 1.0}
    own, named = (
        fedatlas.train("diana", QUADRATIC, **OPTIONS | {"lr": 0.01}, compressor=compressor)
        for compressor in (QSGD(levels=2), {"kind": "qsgd", "levels": 2})
    )
    assert own["loss"].equals(named["loss"]) and own.attrs["status"] == "ok"


def test_two_classes_of_one_name_have_their_own_optimum():
    def optimum(factor):
        @dataclass(frozen=True, kw_only=True)
        class Part(fedatlas.Split):
            """Every client has one of the first rows."""

            name = "part"

            def split(self, y, clients, rng):
                return np.arange(clients) * factor, np.ones(clients, int)

        return fedatlas.train("fedavg", DIGITS | {"partition": Part()}, **OPTIONS)["suboptimality"].iloc[0]

    assert optimum(1) != optimum(3)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"channel": Halving()}, "channel is a Halving; it must be a kind of Channel"),
        ({"channel": {"up": Halving}}, "channel is a Halving; it must be a kind of Channel"),
        ({"participation": First()}, "participation is a First; it must be a kind of Participation"),
        ({"schedule": Uniform}, "unknown schedule 'uniform'"),
        ({"channel": fedatlas.Channel}, "channel is .*Channel.*; it must be text, or a mapping"),
    ],
)
def test_an_object_of_another_family_is_refused(options, sentence):
    with pytest.raises(fedatlas.UserError, match=sentence):
        fedatlas.train("fedavg", QUADRATIC, **OPTIONS, **options)
