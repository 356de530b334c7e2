"""Hyper-parameters that options advise."""

from dataclasses import dataclass

import pytest

import fedatlas
from fedatlas import UserError
from fedatlas.cli.show import describe
from fedatlas.experiments.advice import with_advice
from fedatlas.experiments.values import formula_constants, resolve_formulas
from fedatlas.federation.algorithms import ALGORITHMS, Algorithm
from fedatlas.federation.arrays import State
from fedatlas.registry.options import option
from tests.helpers import quadratic

SETTING = {"clients": 5, "local_steps": 4, "rounds": 10}
NAMES = {"L", "L_max", "mu", "delta_A", "delta_B", "M", "K", "R"}


def problem():
    return quadratic(mu=1.0, L=10.0, similarity=0.5, heterogeneity=1.0)


@pytest.mark.parametrize("name", ALGORITHMS.names())
def test_every_algorithm_runs_as_it_is_advised(name):
    cls, objective = ALGORITHMS.get(name), problem()
    if "head" in cls.options():
        pytest.skip("only networks have a head")
    advised = with_advice(cls, {}, {**SETTING, "clients": objective.clients})
    values = resolve_formulas(advised, cls.options(), objective)
    for item in cls.options().values():
        default = item.default() if callable(item.default) else item.default
        assert item.fits(values.get(item.name, default if not item.required else None)) or item.constant
        if item.advice:
            assert set(formula_constants(item.advice, item.name)) <= NAMES | set(cls.options())
    frame = fedatlas.train(name, objective, local_steps=4, rounds=10, batch=None, **values)
    assert frame.attrs["status"] == "ok"
    assert frame["suboptimality"].iloc[-1] < frame["suboptimality"].iloc[0]


@dataclass(frozen=True, kw_only=True)
class Advised(Algorithm):
    """Advised (nobody) is an algorithm with options that are advised."""

    name = "advised"

    p: float = option(doc="probability", low=0, high=1, advice="K*R")
    q: float = option(doc="another", above=0, advice="p/nope")
    r: float = option(doc="no advice")

    def client(self, s, i, steps):
        return State(), State()

    def server(self, s, mean, n):
        return s


def test_advice_beyond_a_range_is_refused():
    with pytest.raises(UserError, match=r"algorithm advised .*: p is 40\.0; it must be a number between 0 and 1"):
        fedatlas.train(Advised, problem(), rounds=1, **with_advice(Advised, {"q": 1, "r": 1}, SETTING))


def test_advice_that_cannot_be_given():
    with pytest.raises(UserError, match=r"no constant 'nope' \(it has L, L_max, .*p, q, r"):
        fedatlas.train(Advised, problem(), rounds=1, **with_advice(Advised, {"r": 1}, SETTING))
    with pytest.raises(UserError, match="algorithm advised needs a value for 'r', and there is no advice for it"):
        with_advice(Advised, {"q": 1}, SETTING)


def test_advice_is_told():
    assert "required; advised 1/L_max" in describe("fedavg")
    with pytest.raises(UserError, match="algorithm scaffold needs a value for 'lr', such as 1/L_max"):
        fedatlas.train("scaffold", problem(), rounds=1)


def test_a_formula_in_train():
    frame = fedatlas.train("gd", problem(), rounds=1, batch=None, lr="1/(L+mu)")
    assert frame.attrs["spec"]["parameters"]["lr"] == pytest.approx(1 / 11)
    with pytest.raises(UserError, match="no constant 'nope'"):
        fedatlas.train("gd", problem(), rounds=1, lr="1/nope")
    with pytest.raises(UserError, match="lr is 'import os'"):
        fedatlas.train("gd", {"kind": "logistic", "data": "a9a"}, clients=2, rounds=1, lr="import os")
