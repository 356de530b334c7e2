"""Methods of Table 1 of FedRed: local solvers, models of one client, costs, refused settings."""

import warnings

import numpy as np
import pytest

from fedatlas import UserError
from fedatlas.experiments.cells import Run
from fedatlas.experiments.runs import create
from fedatlas.federation.algorithms import ALGORITHMS
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation
from fedatlas.federation.engine.steps import Round, Steps
from fedatlas.federation.problems import PROBLEMS
from fedatlas.federation.streams import random_client
from tests.helpers import logistic, quadratic, run


@pytest.mark.parametrize("name", ["dane+-gd", "dane+-fgd"])
def test_a_local_solver_that_may_not_converge_is_warned_of(name):
    """The clients' own smoothness decides, which is larger than that of the mean objective."""
    problem, lam = logistic(), 0.01
    largest = problem.constant("L_max")
    slow, fast = ({"lr": factor / (largest + lam), "lam": lam} for factor in (1.99, 2.01))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ALGORITHMS.create(name, slow).with_constants(problem)
    with pytest.warns(UserWarning, match=r"above 2/\(L_max \+ lam\).*max_steps = 1000 .*take lr = 1/\(L_max \+ lam\)"):
        ALGORITHMS.create(name, fast).with_constants(problem)


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_the_mean_of_pick_is_the_model_of_the_drawn_client(library):
    v = np.random.default_rng(0).standard_normal((4, 3))
    if library == "torch":
        v = pytest.importorskip("torch").from_numpy(v)
    for client in range(4):
        blocks = []
        for ids in (np.arange(3), np.arange(3, 4)):
            setting = Setting(clients=4, rounds=99)
            rounds = (Round(round=t, order=np.arange(4), setting=setting, steps=1) for t in range(99))
            round = next(one_round for one_round in rounds if one_round.random_client == client)
            blocks.append(np.asarray(Steps(None, ids, None, round, None).pick(v[ids])))
        np.testing.assert_allclose(np.concatenate(blocks).mean(axis=0), np.asarray(v[client]), rtol=1e-14)


def test_every_client_is_drawn_equally_often():
    counts = np.bincount([random_client(0, t, 5) for t in range(5000)], minlength=5)
    assert (abs(counts - 1000) < 4 * np.sqrt(5000 * 0.2 * 0.8)).all()


@pytest.mark.parametrize("name", ["fedred", "fedred-gd", "fedred-sgd"])
@pytest.mark.parametrize("averaging", ["mean", "random"])
def test_the_evaluated_average_costs_no_communication_and_changes_no_iterate(name, averaging):
    problem = quadratic()
    options = {"eta": 30.0, "p": 0.3, "averaging": averaging}
    simulations = [
        Simulation(ALGORITHMS.create(name, options | change), problem, Setting(clients=5, rounds=6, batch=2), seed=2)
        for change in ({}, {"average": "weighted", "mu": 0.5})
    ]
    last, weighted = (simulation.run().rows[-1] for simulation in simulations)
    assert all(last[key] == weighted[key] for key in ("vectors_up", "vectors_down", "gradients", "samples", "steps"))
    assert (simulations[0].s.x == simulations[1].s.x).all() and last["loss"] != weighted["loss"]


def test_rounds_of_fedred_have_geometric_lengths(heterogeneous):
    rows = run("fedred-gd", {"eta": 30.0, "p": 0.05}, heterogeneous, rounds=600).rows
    lengths = np.diff([row["steps"] for row in rows])
    assert lengths.min() == 1 and abs(lengths.mean() - 20) < 4 * 20 / np.sqrt(600)
    assert rows[-1]["gradients"] == lengths.sum() + 600  # one more in each round for the control variate


@pytest.mark.parametrize(
    "changes, problem",
    [
        (
            {"setting": {"clients": 5, "rounds": 2, "participation": {"kind": "uniform", "count": 2}}},
            "full participation",
        ),
        ({"problem": {"kind": "logistic"}}, "no exact proximal step"),
    ],
)
def test_algorithms_are_refused_where_they_are_not_defined(changes, problem):
    plain = {"algorithm": "dane", "parameters": {"lam": 1.0}, "problem": {"kind": "quadratic"}}
    plain |= {"setting": {"clients": 5, "rounds": 2}, "seed": 0, "within": {}, "tune": {}}
    check(Run(**plain))
    with pytest.raises(UserError, match=problem):
        check(Run(**plain | changes))


def check(run):
    algorithm, setting = create(run)
    algorithm.validate(setting, PROBLEMS.get(run.problem["kind"]))
