"""Methods of Table 1 of FedRed: reductions to each other, local solvers, costs, refused settings."""

import warnings

import numpy as np
import pytest

from fedatlas import UserError
from fedatlas.experiments.cells import Run
from fedatlas.experiments.runs import create
from fedatlas.federation import algorithms, problems
from fedatlas.federation.engine.round import Round
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation
from fedatlas.federation.engine.steps import Steps
from fedatlas.federation.streams import random_client
from tests.helpers import example, logistic, quadratic, run

# --- reductions ---


@pytest.mark.parametrize(
    "special, general",
    [
        (("gd", {"lr": 0.05}), ("scaffnew", {"lr": 0.05, "p": 1.0})),
        (("gd", {"lr": 0.05}), ("dane+-gd", {"lr": 0.05, "lam": 0.7, "max_steps": 1})),
        (("gd", {"lr": 0.05}), ("mime", {"lr": 0.05, "beta": 0.0})),
        (("gd", {"lr": 0.05}), ("mimelite", {"lr": 0.05, "beta": 0.0})),
        (("gd", {"lr": 0.05}), ("mime-mvr", {"lr": 0.05, "a": 1.0})),
        (("gd", {"lr": 0.05}), ("dane+-sgd", {"lr": 0.05, "lam": 0.7})),
        (("gd", {"lr": 0.05}), ("ce-lgd", {"lr": 0.05})),
        (("fedavg", {"lr": 0.05}), ("dane+-sgd", {"lr": 0.05, "lam": 0.0})),
        (("dane+-gd", {"lr": 0.05, "lam": 0.7, "mu": 19.3}), ("dane+-fgd", {"lr": 0.05, "lam": 0.7, "mu": 19.3})),
    ],
)
def test_reductions(special, general, heterogeneous):
    first, second = (run(name, options, heterogeneous, local_steps=1).x for name, options in (special, general))
    np.testing.assert_allclose(first, second, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("name", ["dane+-gd", "dane+-fgd"])
def test_a_local_solver_that_may_not_converge_is_warned_of(name):
    """The clients' own smoothness decides, which is larger than that of the mean objective."""
    problem, lam = logistic(), 0.01
    largest = problem.constant("L_max")
    slow, fast = ({"lr": factor / (largest + lam), "lam": lam} for factor in (1.99, 2.01))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        algorithms.create(name, slow).with_constants(problem)
    with pytest.warns(UserWarning, match=r"above 2/\(L_max \+ lam\).*max_steps = 1000 .*take lr = 1/\(L_max \+ lam\)"):
        algorithms.create(name, fast).with_constants(problem)


def test_sonata_on_the_complete_graph_is_dane_after_its_first_round(heterogeneous):
    """In the first round every client only knows its own gradient."""
    setting = Setting(clients=5, rounds=9, batch=None)
    sonata = Simulation(algorithms.create("sonata", {"tau": 0.7}), heterogeneous, setting)
    dane = Simulation(algorithms.create("dane", {"lam": 0.7}), heterogeneous, setting)
    sonata.run_round()
    dane.s = dane.s.replace(x=sonata.output)
    for _ in range(4):
        sonata.run_round()
        dane.run_round()
        np.testing.assert_allclose(sonata.output, dane.output, rtol=1e-9)


def test_fedred_with_p_one_and_eta_to_zero_is_dane(heterogeneous):
    dane = run("dane", {"lam": 0.7}, heterogeneous).x
    fedred = run("fedred", {"eta": 1e-12, "lam": 0.7, "p": 1.0}, heterogeneous).x
    np.testing.assert_allclose(fedred, dane, rtol=1e-8, atol=1e-10)


def test_the_first_step_of_fedred_gd_without_lambda_is_gradient_descent(heterogeneous):
    """With p = 1 all clients start from x: y_i = x - (G_i(x) - h_i) / eta = x - mean_j G_j(x) / eta."""
    gd = run("gd", {"lr": 0.05}, heterogeneous, rounds=1).x
    np.testing.assert_allclose(run("fedred-gd", {"eta": 20.0, "lam": 0.0, "p": 1.0}, heterogeneous, rounds=1).x, gd)


def test_fedpd_that_never_skips_is_feddyn_if_both_solve_exactly(heterogeneous):
    options = {"local_steps": 400, "rounds": 3}
    feddyn = run("feddyn", {"lr": 0.04, "alpha": 2.0}, heterogeneous, **options).x
    fedpd = run("fedpd", {"lr": 0.04, "eta": 0.5}, heterogeneous, **options).x
    np.testing.assert_allclose(fedpd, feddyn, rtol=1e-8)


def test_dane_plus_with_a_strict_rule_is_dane(heterogeneous):
    """A large lam makes the subproblem easy, so that few steps solve it well from the first round on."""
    exact = run("dane", {"lam": 200.0}, heterogeneous, rounds=3).x
    gd = run("dane+-gd", {"lam": 200.0, "lr": 1 / 215}, heterogeneous, rounds=3).x
    assert np.linalg.norm(gd - exact) < 0.05 * np.linalg.norm(exact - heterogeneous.start(1))


# --- local solvers, models of one client, evaluated averages ---


@pytest.mark.parametrize("name", ["dane+-gd", "dane+-fgd"])
def test_local_solvers_stop_as_soon_as_the_rule_holds(name, heterogeneous):
    lam, lr, mu = 1.8, 0.04, 0.1
    c = {"lr": lr, "lam": lam, "mu": mu}
    # there is one client, so that h = 0 and F(y) = f(y) + lam/2 |y - x|^2
    alone = quadratic(clients=1, dim=6, noise=0, mu=1.0, L=20.0, similarity=0.0)
    x, counts = alone.start(1), []
    for r, steps in ((0, None), (0, 1)):
        options = {} if steps is None else {"max_steps": steps}
        trace = run(name, c | options, alone, clients=1, rounds=1)
        y = trace.x
        gradient = alone.gradient(y) + lam * (y - x)
        met = gradient @ gradient <= lam * (mu + lam) / (8 * (r + 1) * (r + 2)) * ((y - x) @ (y - x))
        counts.append((met, trace.rows[-1]["gradients"]))
    (met, gradients), (early, _) = counts
    assert met and not early
    assert 2 < gradients < 100
    assert not np.allclose(run(name, c | {"max_steps": int(gradients) - 2}, alone, clients=1, rounds=1).x, y)


def test_the_fast_method_needs_fewer_gradients():
    problem = quadratic(clients=2, dim=20, noise=0, mu=0.1, L=100.0, similarity=0.05)
    options = {"lr": 1 / 101, "lam": 0.1}
    slow, fast = (
        run(name, options, problem, clients=2, rounds=1).rows[-1]["gradients"] for name in ("dane+-gd", "dane+-fgd")
    )
    assert fast < slow / 3


def test_a_diverging_solver_stops_at_once(heterogeneous):
    with np.errstate(all="ignore"):
        trace = run("dane+-gd", {"lam": 0.1, "lr": 1e200}, heterogeneous, rounds=1)
    assert trace.status == "diverged"
    assert trace.rows[-1]["gradients"] < 10


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_the_mean_of_pick_is_the_model_of_the_drawn_client(library):
    v = np.random.default_rng(0).standard_normal((4, 3))
    if library == "torch":
        v = pytest.importorskip("torch").from_numpy(v)
    for client in range(4):
        blocks = []
        for ids in (np.arange(3), np.arange(3, 4)):
            rounds = (Round(round=t, order=np.arange(4), clients=4, steps=1) for t in range(99))
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
        Simulation(algorithms.create(name, options | change), problem, Setting(clients=5, rounds=6, batch=2), seed=2)
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


# --- costs of R = 4 rounds of 5 clients with 12 samples each ---


@pytest.mark.parametrize(
    "name, options, up, down, gradients",
    [
        ("dane", {"lam": 1.0}, 8, 8, 4),
        ("dane", {"lam": 1.0, "averaging": "random"}, 8, 8, 4),
        ("dane+-sgd", {"lam": 1.0, "lr": 0.05}, 8, 8, 4 + 12),
        ("dane+-gd", {"lam": 1.0, "lr": 0.05, "max_steps": 3}, 8, 8, 4 + 8),
        ("fedred", {"eta": 1.0, "p": 1.0}, 8, 8, 4),
        ("fedred-gd", {"eta": 20.0, "p": 1.0}, 8, 8, 8),
        ("scaffnew", {"lr": 0.05, "p": 1.0}, 4, 4, 4),
        ("feddyn", {"lr": 0.05, "alpha": 1.0}, 4, 4, 12),
        ("fedpd", {"lr": 0.05, "eta": 1.0}, 4, 4, 12),
        ("mime", {"lr": 0.05}, 8, 12, 4 + 24),
        ("mimelite", {"lr": 0.05}, 8, 8, 4 + 12),
        ("svrp-gd", {"lr": 0.05, "eta": 1.0, "p": 1.0}, 8, 8, 4 + 12),
        ("ce-lgd", {"lr": 0.05}, 8, 8, 4 + 16),
        ("sonata", {"tau": 1.0}, 4 * 8, 4 * 8, 4 + 1),
        ("sonata", {"tau": 1.0, "graph": "ring"}, 2 * 8, 2 * 8, 4 + 1),
    ],
)
def test_costs(name, options, up, down, gradients, heterogeneous):
    last = run(name, options, heterogeneous, rounds=4, local_steps=3).rows[-1]
    assert (last["vectors_up"], last["vectors_down"], last["gradients"]) == (up, down, gradients)


@pytest.mark.parametrize("graph", ["ring", "grid", "erdos-renyi"])
def test_sonata_reaches_the_optimum_over_any_graph(graph, heterogeneous):
    options = {"tau": 5.0, "graph": graph, "step": 0.5, "link_p": 0.6}
    assert run("sonata", options, heterogeneous, rounds=600, eval_rounds=600).rows[-1]["distance"] < 1e-9


# --- what is refused before any run ---


@pytest.mark.parametrize(
    "changes, problem",
    [
        (
            {"setting": {"clients": 5, "rounds": 2, "participation": {"kind": "uniform", "count": 2}}},
            "full participation",
        ),
        ({"problem": {"kind": "logistic"}}, "no exact proximal step"),
        ({"algorithm": "sonata", "parameters": {"tau": 1, "graph": "erdos-renyi", "link_p": 0.01}}, "not connected"),
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
    algorithm.validate(setting, problems.get(run.problem["kind"]))


def test_three_algorithms_need_exact_proximal_steps():
    assert {name for name in algorithms.names() if algorithms.get(name).exact_prox} == {"dane", "fedred", "sonata"}
    assert example("fedred-gd").exact_prox is False and logistic().has_prox() is False
