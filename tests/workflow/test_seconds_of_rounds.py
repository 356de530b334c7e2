"""Simulated seconds, against a walk through the rounds of a run."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedatlas.errors import UserError
from fedatlas.federation import partitions
from fedatlas.federation.costs import COST_MODELS
from fedatlas.federation.engine.exchanges import Exchange, Ledger
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation
from fedatlas.federation.problems.logistic import Logistic
from fedatlas.federation.problems.quadratic import SyntheticQuadratic
from fedatlas.workflow.inputs.simulated_seconds import ActiveClients, Workload, seconds
from tests.helpers import example
from tests.walk import Walk

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


def walked(model, walk):
    """Return the seconds after each round of a `Walk` that has run, one client after another."""
    rates, bits, total = model.rates(M), 64 * walk.problem.dim, [0.0]
    for of_round in walk.parts:
        times = [0.0]
        for i, parts in of_round.items():
            times.append(0.0)
            for part in parts:
                times[-1] += model.latency if part.up > 0 else 0  # who sends nothing, waits for nothing
                sent = bits * part.up if part.bits is None else part.bits
                times[-1] += bits * part.down / rates.down[i] + sent / rates.up[i]
                times[-1] += part.gradients * model.overhead + part.samples * OPERATIONS / rates.compute[i]
        total.append(total[-1] + max(times))
    return np.array(total)


def recorded(model, algorithm, problem, setting, seed=0):
    """Return rounds and seconds of the evaluations of a run, from its ledger as run files hold it."""
    history = Simulation(algorithm, problem, setting, seed).run()
    rounds = [row["round"] for row in history.rows]
    ledgers = [Ledger.parse(part.text()) for part in history.ledger.split(rounds)]
    sizes = np.full(M, problem.samples) if problem.partition is None else np.asarray(problem.partition.sizes)
    participants = setting.participation_kind.bind(problem, M, seed)
    active = [participants.active(t) for t in range(setting.total_rounds)]
    ids = None if setting.full_participation else np.concatenate([[], *active]).astype(int)
    attendance = ActiveClients(ids, np.cumsum([0, *map(len, active)]))
    return rounds, seconds(model, Workload(8 * problem.dim, OPERATIONS, sizes, setting.batch), attendance, ledgers)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name", ["fedavg", "scaffold", "dane", "dane+-sgd", "sonata", "svrp-gd", "ce-lgd", "ef21", "fedrep"]
)  # exchanges of all kinds; the ledger of each algorithm is tested beside the engine
def test_seconds_are_those_of_a_walk_through_the_rounds(name):
    model, tried = COST_MODELS.build(VARIED), 0
    for problem, options in CASES.values():
        setting = Setting(clients=M, rounds=5, eval_rounds=2, **options)
        try:
            algorithm = example(name, lr=0.01, p=0.4, lam=1.0, b=0.5, graph="ring", head=1).with_constants(problem)
            walk = Walk(algorithm, problem, setting)
        except UserError:  # the algorithm is not defined here
            continue
        walk.run()
        rounds, times = recorded(model, algorithm, problem, setting)
        tried += 1
        assert rounds == [0, 2, 4, 5] and times[0] == 0
        np.testing.assert_allclose(times, walked(model, walk)[rounds], rtol=1e-12)
    assert tried


PROFILES = (
    (Exchange("client", 1, 1, gradients=1, samples=1),),
    (Exchange("before", 1, 1, full=1), Exchange("client", 2, 1, gradients=2, samples=6, passes=1)),
)


def make_runs(rounds=12, clients=5, gap=3, seed=0, profiles=PROFILES):
    """Return who took part in a made-up run, and a ledger for each of its evaluations."""
    rng = np.random.default_rng(seed)
    active = rng.random((rounds, clients)) < 0.6
    choices = rng.integers(len(profiles), size=rounds)
    ledger = Ledger()
    for of_round, k in zip(active, choices.tolist(), strict=True):
        ledger.add(profiles[k] if of_round.any() else ())
    attendance = ActiveClients(np.nonzero(active)[1], np.concatenate([[0], np.cumsum(active.sum(axis=1))]))
    return attendance, ledger.split([*range(0, rounds, gap), rounds])


def measured(model, attendance, ledgers, clients=5):
    return seconds(COST_MODELS.build(model), Workload(80, 5.0, np.full(clients, 7), 3), attendance, ledgers)


@settings(max_examples=30)
@given(st.integers(1, 30), st.integers(1, 8), st.integers(1, 7), st.integers(0, 99), st.floats(0.1, 10))
def test_properties(rounds, clients, gap, seed, factor):
    attendance, ledgers = make_runs(rounds, clients, gap, seed)
    times = measured(VARIED, attendance, ledgers, clients)
    assert (np.diff(times) >= 0).all() and times[0] == 0
    np.testing.assert_array_equal(times, measured(VARIED, attendance, ledgers, clients))
    faster = VARIED | {name: factor * VARIED[name] for name in ("compute", "down", "up")}
    faster |= {name: VARIED[name] / factor for name in ("latency", "overhead")}
    np.testing.assert_allclose(measured(faster, attendance, ledgers, clients), times / factor, rtol=1e-12)
    np.testing.assert_allclose(  # a client that is never active changes nothing
        measured(VARIED, attendance, ledgers, clients + 1), times, rtol=1e-12
    )
    _, rare = make_runs(rounds, clients, rounds, seed)
    np.testing.assert_allclose(measured(VARIED, attendance, rare, clients)[-1], times[-1], rtol=1e-12)


@pytest.mark.parametrize("up", [1, (1, 2, 3, 4, 5)])
@pytest.mark.parametrize("client", [None, 2])
def test_all_clients_take_part_with_or_without_a_list(up, client):
    ledger = Ledger()
    ledger.add((Exchange("client", 2, up, full=1, client=client),), 12)
    listed, implied = (ActiveClients(ids, 5 * np.arange(13)) for ids in (np.tile(np.arange(5), 12), None))
    np.testing.assert_allclose(measured(VARIED, listed, [ledger]), measured(VARIED, implied, [ledger]))


def test_rounds_by_hand():
    model = {"kind": "rates", "compute": 10.0, "down": 8.0, "up": 4.0, "latency": 1.0, "overhead": 0.5}
    work = Workload(vector=3, operations=5, sizes=np.array([2, 4]), batch=3)
    ledger = Ledger()
    ledger.add((Exchange("client", 2, 1, gradients=3, samples=6, full=1),))
    ledger.add((Exchange("before", 1, 1), Exchange("client", 2, 1, passes=1, client=0)))
    attendance = ActiveClients(np.array([0, 1, 0, 1]), np.array([0, 2, 4]))
    times = seconds(COST_MODELS.build(model), work, attendance, ledger.split([0, 1, 2]))
    first = 1 + 24 * 2 / 8 + 24 / 4 + 4 * 0.5 + (6 + 4) * 5 / 10  # of client 1, which has 4 samples
    second = 2 + 24 * 3 / 8 + 24 * 2 / 4 + 0.5 + 2 * 5 / 10  # of client 0, which passes over 2 samples in a minibatch
    assert times.tolist() == pytest.approx([0, first, first + second])
