"""Stochastic Polyak step sizes and adaptive servers: bounds, reductions, limits."""

import numpy as np
import pytest
import torch

from fedatlas.federation.algorithms.fedsps import polyak
from fedatlas.federation.engine import recording
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation
from fedatlas.federation.problems.quadratic import Quadratic
from fedatlas.testing import transcriptions
from fedatlas.testing.instances import UNEQUAL_SIZES, unequal_shares
from fedatlas.testing.plain_run import PlainRun
from tests.helpers import example, logistic, network

POLYAK = ("fedsps", "fedsps-normalized", "feddecsps", "fedsps-global")
CLIENTS = 5


def run(name, problem=None, parameters=None, seed=1, **options):
    options = {"clients": CLIENTS, "local_steps": 4, "rounds": 8, "batch": 2, "eval_rounds": 1} | options
    return Simulation(example(name, **parameters or {}), problem or logistic(), Setting(**options), seed=seed).run()


@pytest.fixture(autouse=True)
def whole_records(monkeypatch):
    """Rows that also hold, as NAME, the recorded values of each client, of which rows have statistics."""
    columns = recording.columns
    monkeypatch.setattr(recording, "columns", lambda records: {**columns(records), **records})


def steps_of(trace):
    """The recorded step sizes: for each evaluated round an array (clients, steps)."""
    steps = [np.array(row["step_size"]) for row in trace.rows if "step_size" in row]
    assert steps
    return steps


def interpolating(clients=CLIENTS, dim=3, **options):
    """Quadratics of different curvature that share their minimiser and the minimum 0."""
    rng = np.random.default_rng(0)
    A, x = rng.uniform(0.5, 5, (clients, dim)), rng.standard_normal(dim)
    return Quadratic(A, A * x, 0.5 * (A * x**2).sum(axis=1), **options), x


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


@pytest.mark.parametrize("name", ["fedsps", "fedsps-normalized", "fedsps-global"])
def test_step_sizes_lie_between_the_lemmas_bounds(name):
    # Lemma 14: min(1 / (2 c L_max), gamma_b) <= step <= gamma_b
    problem, _ = interpolating()
    c, gamma_b = 0.8, 0.5
    for step in steps_of(run(name, problem, {"c": c, "gamma_b": gamma_b}, rounds=3, record=["step_size"])):
        assert step.shape == (CLIENTS, 4)
        assert (step <= gamma_b).all() and (step >= min(1 / (2 * c * problem.constant("L_max")), gamma_b) - 1e-12).all()


def test_feddecsps_never_lengthens_a_clients_step():
    steps = steps_of(run("feddecsps", rounds=20, record=["step_size"]))
    by_client = np.concatenate(steps, axis=1)
    assert by_client.shape == (CLIENTS, 80)
    assert (np.diff(by_client, axis=1) < 0).all()
    assert (by_client[:, -1] <= 1 / np.sqrt(80)).all()


@pytest.mark.parametrize("name", POLYAK)
def test_is_fedavg_if_the_bound_is_always_the_smaller_step(name):
    gamma_b, rounds = 0.01, 1 if name == "feddecsps" else 8
    steps = 1 if name == "feddecsps" else 4
    expected = run("fedavg", parameters={"lr": gamma_b}, rounds=rounds, local_steps=steps).x
    ours = run(name, parameters={"gamma_b": gamma_b, "c": 1e-3}, rounds=rounds, local_steps=steps).x
    np.testing.assert_allclose(ours, expected, rtol=1e-10)


def test_normalisation_changes_nothing_if_clients_are_equal():
    same = {"problem": logistic(heterogeneous=False), "batch": None}
    np.testing.assert_allclose(run("fedsps-normalized", **same).x, run("fedsps", **same).x, rtol=1e-12)
    assert np.abs(run("fedsps-normalized").x - run("fedsps").x).max() > 1e-4


def test_normalisation_gives_long_steps_less_weight():
    # f_i = a_i/2 (x - u_i)^2 from 0 in one full step of size 1 / (2 c a_i): y_i = u_i / (2 c), nu_i = 1 / (2 c a_i)
    a, u, c = np.array([1.0, 3.0]), np.array([1.0, 2.0]), 1.0
    problem = Quadratic(a[:, None], (a * u)[:, None], 0.5 * a * u**2, start_scale=0.0)
    options = {"clients": 2, "local_steps": 1, "rounds": 1, "batch": None}
    x = run("fedsps-normalized", problem, {"c": c}, **options).x
    assert x == pytest.approx((a * u).sum() / a.sum() / (2 * c))


@pytest.mark.parametrize("name", ["fedsps", "fedsps-normalized", "fedsps-global", "sps"])
def test_interpolation_converges_to_the_optimum_at_a_large_bound(name):
    problem, x = interpolating()
    gamma_b = 0.3 if name == "fedsps-global" else 100.0  # the most curved client limits the one step size
    result = run(name, problem, {"gamma_b": gamma_b}, rounds=300, batch=None).x
    assert np.abs(result - x).max() < 1e-8


def test_feddecsps_comes_closer_to_the_optimum_of_heterogeneous_clients():
    problem = logistic(samples=200)
    problem.optimum = problem.solve()
    gaps = [run(name, problem, rounds=300, batch=20).rows[-1]["suboptimality"] for name in ("feddecsps", "fedsps")]
    assert gaps[0] < gaps[1] / 3


@pytest.mark.parametrize("smoothing", ["bound", "step"])
def test_smoothing_by_hand(smoothing):
    problem, _ = interpolating(samples=8)
    parameters = {
        "smoothing": smoothing,
        "gamma_b": 0.01,
        "c": 1e-6,
    }  # the bound is smaller than the Polyak step
    trace = run("fedsps", problem, parameters, record=["step_size"], participation={"kind": "uniform", "count": 2})
    counts = np.zeros(CLIENTS)
    setting = Setting(clients=CLIENTS, rounds=8, participation={"kind": "uniform", "count": 2})
    participants = setting.participation_kind.bind(problem, CLIENTS, 1)
    for t, step in enumerate(steps_of(trace)):
        for i, sizes in zip(participants.active(t), step, strict=True):
            np.testing.assert_allclose(sizes, 0.01 * 2 ** ((counts[i] + np.arange(4)) * 2 / 8), rtol=1e-12)
            counts[i] += 4


@pytest.mark.parametrize("length", [{"local_steps": 3, "batch": 2}, {"local_epochs": 2, "batch": 5}])
@pytest.mark.parametrize("smoothing", ["bound", "step"])
def test_smoothing_equals_its_transcription(smoothing, length):
    setting = Setting(clients=CLIENTS, rounds=6, participation={"kind": "bernoulli", "p": 0.5}, **length)
    problem, parameters = logistic(), {"smoothing": smoothing, "gamma_b": 0.3, "c": 0.5, "l_star": 0.0}
    simulation = Simulation(example("fedsps", **parameters), problem, setting, seed=3)
    for expected in transcriptions.find("fedsps")(PlainRun(problem, setting, 3, "fedsps"), **parameters):
        simulation.run_round()
        np.testing.assert_allclose(simulation.output, expected, rtol=1e-10)


@pytest.mark.parametrize("make", [logistic, network], ids=["NumPy", "torch"])
def test_the_bound_doubles_with_each_pass_over_the_clients_rows(make):
    options = {"local_steps": None, "local_epochs": 2, "batch": 4, "rounds": 1, "record": ["step_size"]}
    parameters = {"smoothing": "bound", "gamma_b": 1e-6, "c": 1e-6}  # every step size is its bound
    trace = run("fedsps", unequal_shares(make()), parameters, **options)
    for steps, size in zip(trace.rows[-1]["step_size"], sorted(UNEQUAL_SIZES), strict=True):  # as blocks of one size
        shares = [min(4, size - start) / size for start in range(0, size, 4)] * 2
        exponents = np.cumsum([0, *shares])[:-1]
        np.testing.assert_allclose(steps, 1e-6 * 2**exponents, rtol=1e-12)


def test_the_smoothing_of_loizou_bounds_a_step_by_the_last_one():
    trace = run("fedsps", interpolating(samples=8)[0], {"smoothing": "step", "c": 0.5}, record=["step_size"])
    by_client = np.concatenate(steps_of(trace), axis=1)
    assert (by_client[:, 1:] <= 2 ** (2 / 8) * by_client[:, :-1] * (1 + 1e-12)).all()
    assert (by_client[:, 0] <= 1).all()


@pytest.mark.parametrize("name", [*POLYAK, "fedadam", "fedams", "sps"])
def test_runs_on_torch(name):
    options = {"participation": {"kind": "uniform", "count": 2}, "record": ["step_size"]}
    smooth = {"smoothing": "bound"}
    trace = run(name, network(), smooth, **options)
    assert trace.status == "ok" and trace.x.dtype == torch.float64
    assert trace.rows[-1]["loss"] != trace.rows[0]["loss"]


@pytest.mark.parametrize("participation", [{"kind": "full"}, {"kind": "uniform", "count": 2}])
@pytest.mark.parametrize("block", [1, None])
def test_the_first_global_step_is_that_of_the_first_client(participation, block):
    A = np.arange(1.0, CLIENTS + 1)[:, None] * np.ones(2)  # f_i = i/2 |x|^2 has the Polyak step 1 / (2 c i)
    setting = Setting(clients=CLIENTS, rounds=1, batch=None, participation=participation, record=["step_size"])
    problem = Quadratic(A, 0 * A)
    trace = Simulation(example("fedsps-global", c=1.0), problem, setting, seed=1, block=block).run()
    first = setting.participation_kind.bind(problem, CLIENTS, 1).active(0).min()
    np.testing.assert_allclose(steps_of(trace)[0], 0.5 / (first + 1), rtol=1e-12)


def test_sps_on_one_client_is_fedsps():
    options = {"clients": 1, "problem": logistic(clients=1), "local_steps": 1}
    np.testing.assert_allclose(run("sps", **options).x, run("fedsps", **options).x, rtol=1e-12)


def test_adaptive_servers_by_hand():
    # one client, f = (x - 1)^2 / 2 from 0, one full step of size 0.5: D = 0.5
    problem = Quadratic([[1.0]], [[1.0]], start_scale=0.0)
    options = {"problem": problem, "clients": 1, "local_steps": 1, "batch": None, "rounds": 1}
    parameters = {"lr": 0.5, "server_lr": 2.0, "eps": 0.01}
    m, v = 0.1 * 0.5, 0.01 * 0.25
    adam = 2 * m / (np.sqrt(0.99 * 0.01**2 + v) + 0.01)
    assert run("fedadam", parameters=parameters, **options).x == pytest.approx(adam)
    assert run("fedams", parameters=parameters, **options).x == pytest.approx(2 * m / np.sqrt(0.01))
    assert run("fedams", parameters=parameters | {"eps": 1e-4}, **options).x == pytest.approx(2 * m / np.sqrt(v))


def test_fedams_never_forgets_a_large_change():
    simulation = Simulation(example("fedams", eps=1e-8), logistic(), Setting(clients=CLIENTS, rounds=30), seed=0)
    before = 0
    for _ in range(30):
        simulation.run_round()
        assert (simulation.s.u >= before).all() and (simulation.s.u >= simulation.s.v).all()
        before = simulation.s.u
    assert (simulation.s.u > simulation.s.v).any()


def test_a_restarted_feddecsps_takes_the_step_sizes_of_its_first_round_in_every_round():
    problem, _ = interpolating()
    trace = run("feddecsps", problem, {"memory": "restarted", "gamma_b": 1e-3}, record=["step_size"])
    for step in steps_of(trace):  # gamma_b is smaller than all Polyak step sizes
        np.testing.assert_allclose(step, 1e-3 / np.sqrt(1 + np.arange(4)) * np.ones((CLIENTS, 1)), rtol=1e-12)


def test_the_global_step_sizes_of_three_formulae_by_hand():
    # f_1 = (x + 1)^2 / 2 and f_2 = (x - 1)^2 from 0, with c = 1: losses 1/2 and 1, gradients 1 and -2
    problem = Quadratic([[1.0], [2.0]], [[-1.0], [2.0]], [0.5, 1.0], start_scale=0.0)
    expected = {"steps": (1 / 2 + 1 / 4) / 2, "norms": 0.75 / 2.5, "gradients": 0.75 / 0.25}
    for aggregation, gamma in expected.items():
        parameters = {"aggregation": aggregation, "c": 1.0, "gamma_b": 10.0}
        setting = Setting(clients=2, local_steps=1, rounds=1, batch=None)
        simulation = Simulation(example("fedsps-global", **parameters), problem, setting)
        simulation.run()
        assert simulation.s.gamma == pytest.approx(gamma)


def test_the_first_global_step_size_is_one_number_that_is_sent_once():
    """In later rounds the server sends it with x. Each client also sends one, in the first round two."""
    problem, setting = logistic(), Setting(clients=5, rounds=3, local_steps=2, batch=4, eval_rounds=1)
    rows = Simulation(example("fedsps-global"), problem, setting).run().rows
    numbers = 1 + 1 / problem.dim
    assert [row["vectors_down"] for row in rows] == pytest.approx([0, numbers, 2 * numbers, 3 * numbers])
    assert [row["bits_down"] for row in rows] == pytest.approx([64 * problem.dim * t * numbers for t in range(4)])
    assert rows[1]["vectors_up"] == pytest.approx(1 + 2 / problem.dim)


@pytest.mark.parametrize("smoothing", ["bound", "step"])
@pytest.mark.parametrize("name", ["fedsps", "fedsps-normalized"])
def test_a_bound_that_has_doubled_a_thousand_times_is_a_number(name, smoothing):
    """At a minimiser whose losses are above l*, gradients are 0 and each step size is its bound."""
    problem = Quadratic(np.ones((2, 2)), np.zeros((2, 2)), np.ones(2), start_scale=0.0)
    setting = Setting(clients=2, rounds=150, local_steps=10, batch=None)
    history = Simulation(example(name, smoothing=smoothing), problem, setting).run()
    assert history.status == "ok" and (history.x == 0).all()
