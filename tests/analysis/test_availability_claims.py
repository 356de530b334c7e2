"""What is claimed of availability: closed forms, axes inside lists, agreement with them."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedatlas import algorithms, labels, problems
from fedatlas.checks import HELD, NOT_HELD, NOT_TESTED
from fedatlas.errors import UserError
from fedatlas.experiments import expand
from fedatlas.simulation.engine import Simulation
from fedatlas.simulation.setting import Setting
from fedatlas.theory.closed_forms import fedavg_output, probabilities, weighted_objective

from .synthetic import experiment
from .test_claims import verdict

ROOT = Path(__file__).parents[2]
CENTERS = {"centers": [[0], [100]]}
CHANCES = st.floats(0.05, 1)


# --- the closed form ---


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


@pytest.mark.parametrize("name, limit", [("fedavg-all", weighted_objective), ("fedavg-active", fedavg_output)])
def test_each_fedavg_tends_to_its_own_limit(name, limit):
    p = [0.8, 0.2]
    problem = problems.create({"kind": "quadratic", "start_scale": 0.0} | CENTERS, 2)
    setting = Setting(clients=2, rounds=2000, batch=None, participation={"kind": "stationary", "p": p})
    means = []
    for seed in range(5):
        simulation, total = Simulation(algorithms.create(name, {"lr": 0.05}), problem, setting, seed=seed), 0.0
        for t in range(2000):
            simulation.run_round()
            total += float(simulation.output[0]) * (t >= 500) / 1500
        means.append(total)
    error = np.std(means, ddof=1) / np.sqrt(5)
    assert error < 1.5 and abs(np.mean(means) - limit(CENTERS, p)) < 5 * error


def test_the_limit_for_three_clients_is_the_mean_of_draws():
    p, u = np.array([0.2, 0.5, 0.9]), np.array([-1.0, 3.0, 10.0])
    there = np.random.default_rng(0).random((200_000, 3)) < p
    there = there[there.any(axis=1)]
    drawn = (there * u).sum(axis=1) / there.sum(axis=1)
    error = drawn.std() / np.sqrt(len(drawn))
    assert abs(fedavg_output({"centers": u[:, None].tolist()}, p) - drawn.mean()) < 5 * error


@pytest.mark.parametrize(
    "point, expected",
    [
        ({}, [0.5, 0.4]),
        ({"participation.p.1": 0.9}, [0.5, 0.9]),
        ({"participation.p": "[0.1, 0.2]"}, [0.1, 0.2]),
        ({"participation": '{"kind": "stationary", "p": [0.3, 0.2]}', "participation.p.0": 1.0}, [1.0, 0.2]),
    ],
)
def test_probabilities_at_a_point_of_the_axes(point, expected):
    assert probabilities({"participation": {"kind": "stationary", "p": [0.5, 0.4]}}, point) == expected


def test_the_limit_needs_a_probability_for_each_client():
    with pytest.raises(UserError, match=r"participation\.p as a list"):
        probabilities({"participation": {"kind": "stationary", "p": 0.5}}, {})


# --- axes inside lists ---


def test_axes_reach_into_lists():
    spec = {"setting": {"participation": {"kind": "stationary", "p": [0.5, 0.5]}}}
    expand.assign(spec, "participation.p.1", 0.2)
    assert spec["setting"]["participation"]["p"] == [0.5, 0.2]
    for axis in ("participation.p.2", "participation.p.x", "participation.p.-1"):
        with pytest.raises(UserError, match="is no place in"):
            expand.assign(spec, axis, 0.2)


def test_names_of_axes_inside_lists_count_from_one():
    assert labels.axis("participation.p.0", {}) == "$p_{1}$"
    assert labels.point("participation.p.11", 0.3) == "p₁₂ = 0.3"


# --- claims ---

AXES = ("participation.p.0",)
MADE = experiment(
    algorithms=("fedavg", "fedawe"),
    grid={AXES[0]: [0.2, 0.8]},
    problem={"kind": "quadratic", **CENTERS},
    setting={"clients": 2, "participation": {"kind": "stationary", "p": [0.5, 0.5]}},
)


def lines(shift=0.0, spread=1.0, seeds=4):
    """Time means that scatter about the closed form: +-spread by seed, moved by shift."""
    found = []
    for p in (0.2, 0.8):
        limit = fedavg_output(CENTERS, [p, 0.5]) + shift
        for seed in range(seeds):
            value = limit + spread * (-1) ** seed
            found.append(("fedavg", p, seed, [(0, 1e9), (10, value - 2), (20, value + 2)]))
    return found


AGREES = {"kind": "agrees", "algorithm": "fedavg", "limit": "fedavg-output", "metric": "suboptimality", "after": 10}
ROWS = [("fedavg", (p,), 0.1) for p in (0.2, 0.8)]


@pytest.mark.parametrize(
    ("shift", "seeds", "expected"),
    [(0.0, 4, HELD), (2.0, 4, HELD), (8.0, 4, NOT_HELD), (2.0, 20, NOT_HELD), (0.0, 1, NOT_TESTED)],
)
def test_agrees(shift, seeds, expected):
    # standard error 2 / sqrt(12) of 4 seeds: t = 3.5 sigma of shift 2 is no surprise for 3 degrees of freedom
    curves = [(a, p, s, [(r, v) for r, v in values]) for a, p, s, values in lines(shift, seeds=seeds)]
    found = verdict(ROWS, AXES, MADE, lines=curves, **AGREES)
    assert found[0] == expected
    if expected != NOT_TESTED:
        assert "over 2 settings" in found[1]


def test_agrees_without_any_spread():
    assert verdict(ROWS, AXES, MADE, lines=lines(0, 0), **AGREES)[0] == HELD
    assert verdict(ROWS, AXES, MADE, lines=lines(1e-3, 0), **AGREES)[0] == NOT_HELD


@pytest.mark.parametrize(
    ("options", "expected", "ours"),
    [
        ({"at_least": 0.1}, HELD, "FedAvg 0.2"),
        ({"at_least": 0.3}, NOT_HELD, "FedAvg 0.2"),
        ({"at_most": 0.1}, NOT_HELD, "FedAvg 0.2"),
        ({"start": 4, "end": 2, "at_most": 0.0}, HELD, "FedAvg -0.1"),
    ],
)
def test_drop(options, expected, ours):
    made = experiment(metric="test_accuracy", goal="max", grid={"clients": [1, 2, 4]}, algorithms=("fedavg",))
    rows = [("fedavg", (1,), 0.9), ("fedavg", (2,), 0.8), ("fedavg", (4,), 0.7)]
    options = {"kind": "drop", "algorithms": ["fedavg"], "axis": "clients", **options}
    assert verdict(rows, ("clients",), made, **options)[:2] == (expected, ours)
