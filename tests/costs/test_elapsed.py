"""Simulated seconds, against a walk through the rounds of a run."""

import dataclasses
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedatlas.errors import UserError
from fedatlas.federation import algorithms, partitions
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation
from fedatlas.federation.problems.logistic import Logistic
from fedatlas.federation.problems.quadratic import SyntheticQuadratic
from fedatlas.federation.streams import random_client, stream
from fedatlas.results.costs import COST_MODELS
from fedatlas.results.costs.elapsed import RUN_COLUMNS, ActiveClients, Workload, seconds
from tests.helpers import example

ALIKE = {"kind": "rates", "compute": 1e4, "down": 4e3, "up": 1e3, "latency": 0.3, "overhead": 0.01}
VARIED = ALIKE | {"compute_spread": 0.8, "down_spread": 0.5, "up_spread": 0.7}
M, OPERATIONS = 6, 40.0


def split_data():
    rng = np.random.default_rng(0)
    A, b = rng.standard_normal((90, 3)), (rng.random(90) < 0.5).astype(int)
    return Logistic(
        A, b, l2=0.1, partition=partitions.split({"kind": "dirichlet", "alpha": 0.5, "per_class": True}, b, M)
    )


CASES = {
    "full": (split_data(), {"local_steps": 3, "batch": 2}),
    "uniform": (split_data(), {"local_steps": 3, "batch": 2, "participation": {"kind": "uniform", "count": 3}}),
    "rare": (split_data(), {"local_steps": 3, "batch": 2, "participation": {"kind": "stationary", "p": 0.2}}),
    "epochs": (split_data(), {"local_epochs": 2, "batch": 4}),
    "exact": (split_data(), {"local_steps": 3, "batch": None}),
    "quadratic": (SyntheticQuadratic(dim=4, noise=0.1, samples=16).build(M), {"local_steps": 3, "batch": 2}),
}
# Why recorded totals do not say what each client did in each round, and how far the time is off here.
AVERAGED = {
    "ce-lgd": ("in a first exchange it takes two full gradients, in the first round one", 0.05),
    "dane+-gd": ("each client solves until it is content", 0.1),
    "dane+-fgd": ("each client solves until it is content", 0.1),
    "fedsps-global": ("in the first round it takes one gradient more, and exchanges a number first", 0.1),
    "svrp-gd": ("some rounds have a first exchange", 0.1),
}


def walked(model, algorithm, problem, setting, seed=0):
    """Seconds after each round: every client of every round by itself, from the exchanges that the engine recorded."""
    rates, bits, total = model.rates(setting.clients), 64 * problem.dim, [0.0]
    simulation = Simulation(algorithm, problem, setting, seed, block=1)
    for _ in range(setting.total_rounds):
        simulation.run_round()
        times = np.zeros(setting.clients)
        for exchange in simulation.exchanges:
            ids = exchange.ids
            times[ids] += model.latency * (exchange.up > 0)  # who sends nothing, waits for nothing
            times[ids] += bits * (exchange.down / rates.down[ids] + exchange.up / rates.up[ids])
            times[ids] += exchange.gradients * model.overhead + exchange.samples * OPERATIONS / rates.compute[ids]
        total.append(total[-1] + times.max())
    return np.array(total)


def evaluated(model, algorithm, problem, setting, seed=0):
    """Rounds and seconds of the evaluations of a run, from what it recorded."""
    rows = Simulation(algorithm, problem, setting, seed).run().rows
    columns = {name: np.array([row[name] for row in rows], float) for name in RUN_COLUMNS}
    sizes = np.full(M, problem.samples) if problem.partition is None else problem.partition.sizes
    passes, broadcast = setting.local_epochs is not None, len(algorithm.broadcast)
    work = Workload(8 * problem.dim, OPERATIONS, np.asarray(sizes), setting.batch, passes, broadcast)
    participants = setting.participation_kind.bind(problem, M, seed)
    active, more = [participants.active(t) for t in range(setting.total_rounds)], {}
    if algorithm.single_client():
        order = np.argsort(sizes, kind="stable") if setting.local_epochs else np.arange(M)
        more["random"] = np.array([order[random_client(seed, t, M)] for t in range(setting.total_rounds)])
    if algorithm.overrides("length"):
        K = setting.local_steps or 1
        more["lengths"] = np.array([algorithm.length(K, stream(seed, "length", t)) for t in range(len(active))], float)
    ids = None if setting.full_participation else np.concatenate([[], *active]).astype(int)
    attendance = ActiveClients(ids, np.cumsum([0, *map(len, active)]), **more)
    return columns["round"].astype(int), seconds(model, work, attendance, columns)


@pytest.mark.parametrize("name", algorithms.ALGORITHMS.names())
def test_seconds_are_those_of_a_walk_through_the_rounds(name):
    model, tried = COST_MODELS.build(VARIED), 0
    for problem, more in CASES.values():
        setting = Setting(clients=M, rounds=10, eval_rounds=4, **more)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                algorithm = example(name, lr=0.01, p=0.4, lam=1.0, b=0.5).with_constants(problem)
                true = walked(model, algorithm, problem, setting)
            except UserError:  # the algorithm is not defined here
                continue
            rounds, found = evaluated(model, algorithm, problem, setting)
        tried += 1
        assert rounds.tolist() == [0, 4, 8, 10] and found[0] == 0
        tolerance = AVERAGED[name][1] if name in AVERAGED else 1e-10
        np.testing.assert_allclose(found, true[rounds], rtol=tolerance)
    assert tried


def made(rounds=12, clients=5, gap=3, seed=0):
    """Who took part, and what was recorded, of a made-up run with a local step of one sample in each round."""
    rng = np.random.default_rng(seed)
    there = rng.random((rounds, clients)) < 0.6
    places = np.append(np.arange(0, rounds, gap), rounds)
    busy = np.concatenate([[0], np.cumsum(there.any(axis=1))])[places].astype(float)
    columns = {"round": places, "steps": places} | dict.fromkeys(RUN_COLUMNS[2:], busy)
    attendance = ActiveClients(np.nonzero(there)[1], np.concatenate([[0], np.cumsum(there.sum(axis=1))]))
    return attendance, columns


def measured(model, attendance, columns, clients=5):
    return seconds(COST_MODELS.build(model), Workload(80, 5.0, np.full(clients, 7), 1), attendance, columns)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 30), st.integers(1, 8), st.integers(1, 7), st.integers(0, 99), st.floats(0.1, 10))
def test_properties(rounds, clients, gap, seed, factor):
    attendance, columns = made(rounds, clients, gap, seed)
    found = measured(VARIED, attendance, columns, clients)
    assert (np.diff(found) >= 0).all() and found[0] == 0
    np.testing.assert_array_equal(found, measured(VARIED, attendance, columns, clients))
    faster = VARIED | {name: factor * VARIED[name] for name in ("compute", "down", "up")}
    faster |= {name: VARIED[name] / factor for name in ("latency", "overhead")}
    np.testing.assert_allclose(measured(faster, attendance, columns, clients), found / factor, rtol=1e-12)
    np.testing.assert_allclose(  # a client that is never active changes nothing
        measured(VARIED, attendance, columns, clients + 1), found, rtol=1e-12
    )


def test_doubling_rates_halves_the_time():
    attendance, columns = made()
    once = ALIKE | {"latency": 0.0, "overhead": 0.0}
    twice = once | {name: 2 * once[name] for name in ("compute", "down", "up")}
    np.testing.assert_allclose(2 * measured(twice, attendance, columns), measured(once, attendance, columns))


def test_all_clients_take_part_with_or_without_a_list():
    _, columns = made()
    columns = columns | dict.fromkeys(RUN_COLUMNS[2:], columns["round"].astype(float))
    listed = ActiveClients(np.tile(np.arange(5), 12), 5 * np.arange(13))
    implied = dataclasses.replace(listed, ids=None)
    for more in ({}, {"lengths": np.arange(1.0, 13)}, {"random": np.arange(12) % 5}):
        first, second = (dataclasses.replace(one, **more) for one in (listed, implied))
        np.testing.assert_allclose(measured(VARIED, first, columns), measured(VARIED, second, columns))


def test_a_client_has_its_rates_whatever_the_number_of_clients():
    few, many = (COST_MODELS.build(VARIED).rates(clients) for clients in (3, 300))
    for ours, theirs in zip(few, many, strict=True):
        np.testing.assert_array_equal(ours, theirs[:3])
    assert not np.array_equal(few.compute / 1e4, (few.down / 4e3))
    assert not np.array_equal(few.up, COST_MODELS.build(VARIED | {"seed": 1}).rates(3).up)
    alike = COST_MODELS.build(ALIKE).rates(4)
    assert [set(values) for values in alike] == [{1e4}, {4e3}, {1e3}]


def test_log_normal_rates():
    rates = COST_MODELS.build("cross-device").rates(20_000)
    for values, median, spread in zip(rates, (1e9, 42e6, 25e6), (0.5, 0.5, 0.7), strict=True):
        assert np.log(values).mean() == pytest.approx(np.log(median), abs=0.02)
        assert np.log(values).std() == pytest.approx(spread, rel=0.02)


def test_a_round_by_hand():
    model = {"kind": "rates", "compute": 10.0, "down": 8.0, "up": 4.0, "latency": 1.0, "overhead": 0.5}
    work = Workload(vector=3, operations=5, sizes=np.array([2, 4]), batch=2, broadcast=2)
    columns = {"round": [0, 1], "steps": [0, 1], "vectors_down": [0, 2], "vectors_up": [0, 1], "gradients": [0, 4]}
    columns = {name: np.array(values) for name, values in columns.items()} | {"samples": np.array([0, 9])}
    # 9 samples of 4 gradients: one is full, of 3 samples on average, and three are of minibatches of 2
    found = seconds(COST_MODELS.build(model), work, ActiveClients(np.array([0, 1]), np.array([0, 2])), columns)
    assert found[1] == pytest.approx(1 + 24 * 2 / 8 + 24 / 4 + 4 * 0.5 + (6 + 4) * 5 / 10)
