"""Closed forms of limits against simulations and by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedatlas.federation import problems
from fedatlas.federation.algorithms import ALGORITHMS
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation
from fedatlas.theory.closed_forms import fedavg_output, weighted_objective

CENTERS = {"centers": [[0], [100]]}


CHANCES = st.floats(0.05, 1)


@given(CHANCES, CHANCES)
def test_the_limit_for_two_clients_is_that_of_example_1(p1, p2):
    expected = (p1 * p2 * 50 + (1 - p1) * p2 * 100) / (1 - (1 - p1) * (1 - p2))
    assert fedavg_output(CENTERS, [p1, p2]) == pytest.approx(expected)
    assert fedavg_output(CENTERS, [p2, p1]) == pytest.approx(100 - expected)


@given(CHANCES, CHANCES)
def test_the_biased_objective_has_its_minimiser_where_its_gradient_is_zero(p1, p2):
    x = weighted_objective(CENTERS, [p1, p2])
    assert p1 * (x - 0) + p2 * (x - 100) == pytest.approx(0, abs=1e-9)
    assert weighted_objective(CENTERS, [0.9, 0.1]) == pytest.approx(10)


@pytest.mark.parametrize(
    "name, limit",
    [pytest.param("fedavg-all", weighted_objective, marks=pytest.mark.slow), ("fedavg-active", fedavg_output)],
)
def test_each_fedavg_tends_to_its_own_limit(name, limit):
    p = [0.8, 0.2]
    problem = problems.create({"kind": "quadratic", "start_scale": 0.0} | CENTERS, 2)
    participation = {"kind": "stationary", "p": p}
    setting = Setting(clients=2, rounds=1000, batch=None, participation=participation, eval_rounds=1)
    means = []
    for seed in range(5):
        rows = Simulation(ALGORITHMS.create(name, {"lr": 0.05}), problem, setting, seed=seed).run().rows
        means.append(np.mean([row["output"] for row in rows if row["round"] > 200]))
    error = np.std(means, ddof=1) / np.sqrt(5)
    assert error < 1.5 and abs(np.mean(means) - limit(CENTERS, p)) < 5 * error


def test_the_limit_for_three_clients_is_the_mean_of_draws():
    p, u = np.array([0.2, 0.5, 0.9]), np.array([-1.0, 3.0, 10.0])
    active = np.random.default_rng(0).random((200_000, 3)) < p
    active = active[active.any(axis=1)]
    outputs = (active * u).sum(axis=1) / active.sum(axis=1)
    error = outputs.std() / np.sqrt(len(outputs))
    assert abs(fedavg_output({"centers": u[:, None].tolist()}, p) - outputs.mean()) < 5 * error
