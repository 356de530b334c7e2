"""Statements of the FedAWE paper: true of the algorithm, false of algorithms that differ from it in one thing."""

import dataclasses
import functools
from dataclasses import dataclass

import numpy as np
import pytest

from fedatlas.errors import UserError
from fedatlas.federation.algorithms.fedawe import FedAWE
from fedatlas.federation.arrays import State
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.problems.quadratic import SyntheticQuadratic
from fedatlas.theory.fedawe import STATEMENTS
from fedatlas.theory.fedawe.bounds import fedawe_constants
from fedatlas.theory.fedawe.trajectories import Ensemble, simulate
from tests.helpers import logistic, quadratic

EQUALITIES = ["proposition-1", "matrix-form", "doubly-stochastic", "auxiliary-form", "proposition-4"]
BOUNDS = [
    "lemma-3",
    "lemma-5",
    "proposition-3",
    "proposition-2",
    "lemma-6",
    "theorem-1",
    "corollary-2",
    "corollary-3",
]


@dataclass(frozen=True, kw_only=True)
class Silent(FedAWE):
    """FedAWE that does not echo."""

    name = "silent"

    def client(self, s, i, steps):
        sent, client_state = super().client(s, i.replace(tau=steps.round - 1 + 0 * i.tau), steps)
        return sent, client_state


@dataclass(frozen=True, kw_only=True)
class Fresh(FedAWE):
    """FedAWE in which clients start from the server's model: they do not gossip."""

    name = "fresh"

    def client(self, s, i, steps):
        return super().client(s, i.replace(x=s.x + 0 * i.x), steps)


@dataclass(frozen=True, kw_only=True)
class Late(FedAWE):
    """FedAWE whose clients count one round too few."""

    name = "late"

    def client(self, s, i, steps):
        sent, client_state = super().client(s, i, steps)
        return sent, client_state.replace(tau=steps.round + 1)


@dataclass(frozen=True, kw_only=True)
class Averaging(Silent):
    """FedAvg over the active clients, whose clients keep the last model that they got."""

    name = "averaging"

    def client(self, s, i, steps):
        return super().client(s, i.replace(x=s.x + 0 * i.x), steps)


PARTICIPATION = {"kind": "staircase", "p": [0.2, 0.4, 0.6, 0.8, 1.0]}


@functools.cache
def runs(kind=FedAWE, seeds=3):
    setting = Setting(clients=5, rounds=40, local_steps=2, batch=3, participation=PARTICIPATION)
    algorithm = kind(lr=0.01, server_lr=1.5)
    return Ensemble([simulate(algorithm, quadratic(), setting, seed) for seed in range(seeds)], 0.01)


def exceeded(name, ensemble):
    measured, limit = STATEMENTS[name](ensemble)
    return measured / (1e-12 if limit is None else limit)


@pytest.mark.parametrize("name", [*EQUALITIES, "lemma-1", "lemma-2-mean", "lemma-2-square", "duration", "lemma-4"])
def test_they_are_true_of_fedawe(name):
    assert exceeded(name, runs()) <= 1


@pytest.mark.parametrize(
    "kind, wrong",
    [
        (Silent, {"matrix-form", "doubly-stochastic", "auxiliary-form", "proposition-4"}),
        (Fresh, {"matrix-form", "doubly-stochastic", "auxiliary-form", "proposition-4"}),
        (Late, {"proposition-1", "matrix-form", "doubly-stochastic", "auxiliary-form", "proposition-4"}),
    ],
)
def test_equalities_are_false_of_other_algorithms(kind, wrong):
    result = runs(kind)
    assert {name for name in EQUALITIES if exceeded(name, result) > 1} == wrong


PAIR = {"centers": [[-50.0], [50.0]], "start_scale": 0.0}


@functools.cache
def pair(kind, lr=1.8e-4, noise=0.0, rounds=3000):
    setting = Setting(clients=2, rounds=rounds, local_steps=2, participation={"kind": "stationary", "p": [1.0, 0.5]})
    problem = SyntheticQuadratic(**PAIR, noise=noise).build(2)
    return Ensemble([simulate(kind(lr=lr), problem, setting, seed) for seed in range(2)], 0.05)


@pytest.mark.parametrize("name", BOUNDS)
def test_bounds_hold_for_fedawe(name):
    assert exceeded(name, pair(FedAWE, rounds=1000)) < 1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["theorem-1", "corollary-2"])
def test_the_bias_of_fedavg_exceeds_the_bounds(name):
    assert exceeded(name, pair(Averaging)) > 1


def altered(ensemble, **changes):
    """Runs with other fields. changes: functions of a run."""
    return Ensemble(
        [dataclasses.replace(run, **{k: of(run) for k, of in changes.items()}) for run in ensemble.trajectories], 0.05
    )


@pytest.mark.parametrize(
    "name, changes",
    [
        ("lemma-3", {"x": lambda run: run.x + np.linspace(0, 100, len(run.x))[:, None, None]}),  # F rises to 5000
        (
            "lemma-5",
            {"drift": lambda run: 17 * run.drift},
        ),  # the bound is 16^2 times two steps without noise
    ],
)
def test_bounds_are_false_of_other_runs(name, changes):
    assert exceeded(name, altered(pair(FedAWE), **changes)) > 1


def test_constants_of_two_clients():
    c = fedawe_constants(pair(FedAWE, noise=3.0, rounds=500))
    assert (c.m, c.s, c.L, c.zeta2, c.gap) == (2, 2, 1, 2500, 0)
    assert (c.delta, c.delta_max) == (0.5, 1) and c.rho == pytest.approx(0.5)
    assert c.sigma2 == pytest.approx(9, rel=0.1)


def test_what_the_statements_ask_for():
    with pytest.raises(UserError, match=r"condition \(11\).*lr server_lr <= 0.00019"):
        fedawe_constants(pair(FedAWE, lr=2e-4, rounds=20))
    with pytest.raises(UserError, match="one Hessian"):
        fedawe_constants(runs())
    with pytest.raises(UserError, match="two seeds"):
        exceeded("duration", runs(seeds=1))
    setting = Setting(clients=5, rounds=2, participation=PARTICIPATION)
    with pytest.raises(UserError, match="about FedAWE without clip on quadratics"):
        simulate(FedAWE(lr=0.1, clip=1.0), quadratic(), setting, 0)
    with pytest.raises(UserError, match="about FedAWE without clip on quadratics"):
        simulate(FedAWE(lr=0.1), logistic(), setting, 0)


def test_the_trajectory_begins_at_the_start_and_has_the_definition_of_tau():
    run = runs().trajectories[0]
    assert (run.x[0] == run.problem.start(0)).all() and (run.latest[0] == -1).all()
    np.testing.assert_array_equal(run.latest, run.tau)
    assert State(x=run.x[-1]).x.shape == (5, 8)
