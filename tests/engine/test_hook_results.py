"""What a hook returns in a wrong form is one sentence with hook, field, shape and what is expected."""

from dataclasses import dataclass

import numpy as np
import pytest

from fedatlas.errors import UserError
from fedatlas.federation.algorithms.fedavg import FedAvg
from fedatlas.federation.arrays import State
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation
from tests.helpers import logistic, network


def algorithm(**hooks):
    """Return FedAvg with other hooks."""
    cls = type("Mine", (FedAvg,), {"name": "mine", "label": "Mine", "__doc__": "Mine (2026).", **hooks})
    return dataclass(frozen=True, kw_only=True)(cls)(lr=0.1)


def keeping(state):
    """Return the hooks of an algorithm whose clients have a number c, and keep a state instead of it."""
    return {
        "init": lambda self, x0: (State(x=x0), State(c=0.0)),
        "client": lambda self, s, i, steps: (State(delta=s.x), state),
    }


MISTAKES = {
    "norm": (
        {"client": lambda self, s, i, steps: (State(delta=s.x, size=np.linalg.norm(s.x) ** 2), State())},
        r"the hook client returns 'size', which is one number; for a block of \d clients it must be rows \(\d, k\)",
    ),
    "cube": (
        {"client": lambda self, s, i, steps: (State(delta=s.x[None, None]), State())},
        r"the hook client returns 'delta', which has the shape \(1, 1, 7\)",
    ),
    "rows": (
        {"client": lambda self, s, i, steps: (State(delta=np.zeros((9, 7))), State())},
        r"the hook client returns 'delta', which has the shape \(9, 7\)",
    ),
    "kept": (keeping(State(c=np.zeros((9, 7)))), r"the hook client returns 'c', which has the shape \(9, 7\)"),
    "array": (
        {"client": lambda self, s, i, steps: s.x},
        "the hook client returns ndarray; it must return a pair of States: what clients send, and what they keep",
    ),
    "triple": (
        {"client": lambda self, s, i, steps: (State(), State(), State())},
        r"the hook client returns \(State, State, State\); it must return a pair of States",
    ),
    "before": (
        {"before": lambda self, s, i, steps: None},
        "the hook before returns NoneType; it must return a State that clients send, or a pair",
    ),
    "server": (
        {"server": lambda self, s, mean, n: s.x},
        "the hook server returns ndarray; it must return the next State of the server",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_result_of_a_wrong_form_is_one_sentence(name):
    hooks, sentence = MISTAKES[name]
    with pytest.raises(UserError, match=f"^algorithm mine: {sentence}"):
        Simulation(algorithm(**hooks), logistic(), Setting(clients=5, rounds=2)).run()


def test_tensors_get_the_same_sentence():
    mine = algorithm(client=lambda self, s, i, steps: (State(delta=s.x, size=s.x.norm()), State()))
    with pytest.raises(UserError, match="the hook client returns 'size', which is one number"):
        Simulation(mine, network("linear"), Setting(clients=5, rounds=1)).run()


def test_other_failures_stay_what_they_are():
    def client(self, s, i, steps):
        raise ValueError("mine")

    with pytest.raises(ValueError, match=r"^mine$"):
        Simulation(algorithm(client=client), logistic(), Setting(clients=5, rounds=1)).run()
