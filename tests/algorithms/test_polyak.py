"""Stochastic Polyak step sizes: gradients of 0, smoothing over passes, the first global step, costs."""

import numpy as np
import pytest
import torch

from fedatlas.federation.algorithms.fedsps import polyak
from fedatlas.federation.engine import simulation
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation
from fedatlas.federation.problems.quadratic import Quadratic
from fedatlas.testing.instances import UNEQUAL_SIZES, unequal_shares
from tests.helpers import example, logistic, network

POLYAK = ("fedsps", "fedsps-normalized", "feddecsps", "fedsps-global")


CLIENTS = 5


def run(name, problem=None, parameters=None, seed=1, **options):
    options = {"clients": CLIENTS, "local_steps": 4, "rounds": 8, "batch": 2, "eval_rounds": 1} | options
    return Simulation(example(name, **parameters or {}), problem or logistic(), Setting(**options), seed=seed).run()


@pytest.fixture(autouse=True)
def whole_records(monkeypatch):
    """Rows that also hold, as NAME, the recorded values of each client, of which rows have statistics."""
    columns = simulation.record_columns
    monkeypatch.setattr(simulation, "record_columns", lambda records: {**columns(records), **records})


def steps_of(trace):
    """The recorded step sizes: for each evaluated round an array (clients, steps)."""
    steps = [np.array(row["step_size"]) for row in trace.rows if "step_size" in row]
    assert steps
    return steps


@pytest.mark.parametrize("make", [np.array, lambda v: torch.tensor(v).double()], ids=["numpy", "torch"])
def test_polyak_by_hand(make):
    loss, g = make([[2.0], [2.0], [1.0], [0.5]]), make([[1.0, 2.0], [0.0, 0.0], [0.0, 0.0], [1.0, 0.0]])
    with np.errstate(all="raise"):
        assert polyak(loss, g, 1.0).ravel().tolist() == pytest.approx([0.2, np.inf, 0.0, 0.0])


@pytest.mark.parametrize("name", POLYAK)
@pytest.mark.parametrize("l_star", [0.0, -1.0])
def test_a_zero_gradient_takes_the_step_size_zero_or_the_largest(name, l_star):
    problem = Quadratic(np.zeros((CLIENTS, 2)), np.zeros((CLIENTS, 2)))
    trace = run(name, problem, {"gamma_b": 3.0, "c": 1.0, "l_star": l_star}, record=["step_size"])
    assert np.isfinite(trace.x).all() and trace.status == "ok"
    assert steps_of(trace)[0][0, 0] == (3.0 if l_star else 0.0)


@pytest.mark.parametrize("make", [logistic, network], ids=["NumPy", "torch"])
def test_the_bound_doubles_with_each_pass_over_the_clients_rows(make):
    options = {"local_steps": None, "local_epochs": 2, "batch": 4, "rounds": 1, "record": ["step_size"]}
    parameters = {"smoothing": "bound", "gamma_b": 1e-6, "c": 1e-6}  # every step size is its bound
    trace = run("fedsps", unequal_shares(make()), parameters, **options)
    for steps, size in zip(trace.rows[-1]["step_size"], sorted(UNEQUAL_SIZES), strict=True):  # as blocks of one size
        shares = [min(4, size - start) / size for start in range(0, size, 4)] * 2
        exponents = np.cumsum([0, *shares])[:-1]
        np.testing.assert_allclose(steps, 1e-6 * 2**exponents, rtol=1e-12)


@pytest.mark.parametrize("participation", [{"kind": "full"}, {"kind": "uniform", "count": 2}])
@pytest.mark.parametrize("block", [1, None])
def test_the_first_global_step_is_that_of_the_first_client(participation, block):
    A = np.arange(1.0, CLIENTS + 1)[:, None] * np.ones(2)  # f_i = i/2 |x|^2 has the Polyak step 1 / (2 c i)
    setting = Setting(clients=CLIENTS, rounds=1, batch=None, participation=participation, record=["step_size"])
    problem = Quadratic(A, 0 * A)
    trace = Simulation(example("fedsps-global", c=1.0), problem, setting, seed=1, block=block).run()
    first = setting.participation_kind.bind(problem, CLIENTS, 1).active(0).min()
    np.testing.assert_allclose(steps_of(trace)[0], 0.5 / (first + 1), rtol=1e-12)


@pytest.mark.parametrize("smoothing", ["bound", "step"])
@pytest.mark.parametrize("name", ["fedsps", "fedsps-normalized"])
def test_a_bound_that_has_doubled_a_thousand_times_is_a_number(name, smoothing):
    """At a minimiser whose losses are above l*, gradients are 0 and each step size is its bound."""
    problem = Quadratic(np.ones((2, 2)), np.zeros((2, 2)), np.ones(2), start_scale=0.0)
    setting = Setting(clients=2, rounds=150, local_steps=10, batch=None)
    history = Simulation(example(name, smoothing=smoothing), problem, setting).run()
    assert history.status == "ok" and (history.x == 0).all()
