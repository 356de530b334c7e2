"""Methods of FedRed's Table 1: rates of theorems, reductions, and what they add to the engine."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedatlas import UserError, algorithms
from fedatlas.experiments import expand
from fedatlas.simulation import mixing
from fedatlas.simulation.engine import Simulation
from fedatlas.simulation.setting import Setting
from fedatlas.simulation.steps import Round, Steps
from fedatlas.simulation.streams import drawn_client
from tests.helpers import example, logistic, quadratic


def run(name, parameters, problem, seed=1, **options):
    options = {"clients": 5, "local_steps": 4, "rounds": 8, "batch": None, "eval_rounds": 1} | options
    return Simulation(algorithms.create(name, parameters), problem, Setting(**options), seed).run()


# --- rates ---


@pytest.fixture(scope="module")
def heterogeneous():
    return quadratic(clients=5, dim=6, noise=0, mu=1.0, L=20.0, similarity=0.9, heterogeneity=3.0)


def theory(name, c):
    """Hyper-parameters that the theorems ask for."""
    mu, L, delta = c["mu_min"], c["L_max"], c["delta_A"]
    eta = 1.5 * L
    return {
        "gd": {"lr": 1 / c["L"]},
        "mb-sgd": {"lr": 1 / c["L"]},
        "dane": {"lam": 2 * delta},
        "dane+-gd": {"lam": 2 * delta, "lr": 1 / (L + 2 * delta), "mu": mu},
        "dane+-fgd": {"lam": 2 * delta, "lr": 1 / (L + 2 * delta), "mu": mu},
        "fedred": {"eta": 4 * delta, "lam": delta, "mu": mu, "p": (delta + mu / 2) / (4 * delta + mu / 2)},
        "fedred-gd": {"eta": eta, "lam": delta, "mu": mu, "p": (delta + mu / 2) / (eta - mu / 2)},
        "fedred-sgd": {"eta": eta, "lam": delta, "mu": mu, "p": (delta + mu / 2) / (eta - mu / 2)},
        "scaffnew": {"lr": 1 / L, "p": math.sqrt(mu / L)},
        "sonata": {"tau": 2 * delta},
        "svrp-gd": {"lr": 1 / (L + 2 * delta**2 / mu), "eta": mu / (2 * delta**2), "p": 0.2},
    }[name]


RATED = [name for name in algorithms.names() if algorithms.get(name).has("rate")]
RATED.remove("dane+-sgd")  # a fixed number of steps, whatever they attain


@pytest.mark.parametrize("name", RATED)
def test_is_at_least_as_fast_as_its_theorem_says(name, heterogeneous):
    parameters = theory(name, heterogeneous.constants())
    rate = algorithms.create(name, parameters).rate(heterogeneous.constants())
    assert 0 < rate < 1
    rounds = min(60, math.ceil(math.log(1e-16) / math.log(rate)))
    rows = run(name, parameters, heterogeneous, rounds=rounds, local_steps=100).rows
    log = np.log([row["distance"] ** 2 for row in rows if row["distance"] > 1e-11])
    assert len(log) > 4
    assert np.polyfit(np.arange(len(log)), log, 1)[0] <= math.log(rate)


@pytest.mark.parametrize(
    "name, changes",
    [
        ("dane", {"lam": 0.5}),
        ("dane", {"averaging": "random"}),
        ("dane+-gd", {"lam": 0.5}),
        ("dane+-gd", {"mu": 5.0}),
        ("fedred", {"p": 0.9}),
        ("fedred", {"eta": 0.1}),
        ("fedred-gd", {"eta": 5.0}),
        ("fedred-gd", {"mu": 0.0}),
        ("gd", {"lr": 0.11}),
        ("mb-sgd", {"lr": 0.11}),
        ("dane+-gd", {"lr": 0.1}),
        ("dane+-fgd", {"lr": 0.1}),
        ("dane+-gd", {"max_steps": 50}),
        ("dane+-fgd", {"max_steps": 20}),
        ("scaffnew", {"lr": 0.2}),
        ("sonata", {"graph": "ring"}),
    ],
)
def test_no_rate_is_claimed_where_no_theorem_applies(name, changes, heterogeneous):
    c = heterogeneous.constants()
    assert algorithms.create(name, theory(name, c) | changes).rate(c) is None


@pytest.mark.parametrize("name", ["dane", "dane+-gd", "dane+-fgd", "sonata", "svrp-gd", "scaffnew", "fedred-gd"])
def test_no_rate_is_claimed_where_a_client_is_not_convex(name, heterogeneous):
    c = heterogeneous.constants()
    parameters = {key: 0.0 if key == "mu" else value for key, value in theory(name, c).items()}
    assert algorithms.create(name, parameters).rate(c | {"mu_min": -0.01}) is None


C = {"mu": 1.0, "L": 10.0, "mu_min": 0.5, "L_max": 20.0, "delta_A": 2.0}


@pytest.mark.parametrize(
    "name, parameters, expected",
    [
        ("gd", {"lr": 0.1}, 0.9**2),
        ("gd", {"lr": 0.19}, 0.9**2),  # |1 - 1.9|
        ("mb-sgd", {"lr": 0.05}, 0.95**2),
        ("dane", {"lam": 4.5}, 0.9),
        ("sonata", {"tau": 4.5}, 0.9),
        ("dane+-gd", {"lam": 4.5, "lr": 0.04, "mu": 0.5}, 0.9),
        ("dane+-fgd", {"lam": 4.5, "lr": 0.04}, 0.9),
        # q = 1 - 0.5 / 20.5 = 40/41, p = (2.25 + 0.25) / 10.25 = 10/41: p q / (1 - (1 - p) q) = 400 / (1681 - 1240)
        ("fedred", {"eta": 10.0, "lam": 2.25, "mu": 0.5, "p": 10 / 41}, 400 / 441),
        # q = 1 - 0.5 / 40.5 = 80/81, p = 2.5 / 20.25 = 10/81: 800 / (6561 - 5680)
        ("fedred-gd", {"eta": 20.5, "lam": 2.25, "mu": 0.5, "p": 10 / 81}, 800 / 881),
        # q = 1 - min(0.02, 0.01) = 0.99: 0.099 / (1 - 0.9 * 0.99)
        ("scaffnew", {"lr": 0.04, "p": 0.1}, 0.099 / 0.109),
        ("scaffnew", {"lr": 0.04, "p": 1.0}, 0.98),
        # a = 1/1.05^2, b = a 0.04: the larger root of z^2 - (a + p b + 1 - p) z + a (1 - p)
        ("svrp-gd", {"lr": 0.01, "eta": 0.1, "p": 0.2}, 1 / 1.05),
    ],
)
def test_rates_by_hand(name, parameters, expected):
    assert algorithms.create(name, parameters).rate(C) == pytest.approx(expected)


def test_a_geometric_rounds_contraction_is_the_mean_over_its_length():
    N = np.random.default_rng(0).geometric(0.2, 200_000)
    assert algorithms.get("fedred").over_geometric(0.9, 0.2) == pytest.approx((0.9**N).mean(), rel=0.01)
    assert (0.9**N).mean() > 1.03 * 0.9**5  # more than at the mean length


@pytest.mark.parametrize("name", ["dane+-gd", "dane+-fgd"])
@pytest.mark.parametrize("r", [0, 30])
def test_the_stopping_rule_holds_within_the_steps_that_are_enough(name, r, heterogeneous):
    """Of one client: h = 0 and F(y) = f(y) + lam/2 |y - x|^2."""
    alone = quadratic(clients=1, dim=6, noise=0, mu=1.0, L=20.0, similarity=0.0)
    a = algorithms.create(name, {"lam": 1.8, "lr": 1 / 21.8, "mu": 1.0})
    enough, x, everyone = a.enough(20.0, r), alone.start(1), np.arange(1)
    y = z = x
    for taken in range(1, enough + 1):  # noqa: B007
        last, y = y, z - a.lr * (alone.full_batch(everyone).grad(z)[0] + 1.8 * (z - x))
        z = y + a.momentum * (y - last)
        if np.linalg.norm(alone.gradient(z) + 1.8 * (z - x)) <= a.accuracy(r) * np.linalg.norm(z - x):
            break
    else:
        pytest.fail("the rule does not hold")
    assert enough / 12 < taken <= enough and a.enough(20.0, 300) > a.enough(20.0, r)
    assert a.enough(20.1, r) == math.inf


@pytest.mark.parametrize("name", ["fedred", "fedred-gd"])
def test_the_theorems_average_is_within_its_bound(name, heterogeneous):
    """Theorems 7 and 9: f(average) - f* <= mu/2 |x0 - x*|^2 / ((1/q)^K - 1) in expectation, K iterations."""
    c, optimum = heterogeneous.constants(), heterogeneous.optimum
    parameters = theory(name, c) | {"average": "weighted"}
    q = algorithms.create(name, parameters).q
    traces = [run(name, parameters, heterogeneous, seed, rounds=12).rows for seed in range(1, 9)]
    squared = [float(((heterogeneous.start(seed) - optimum.x) ** 2).sum()) for seed in range(1, 9)]
    for rows in zip(*traces, strict=True):
        if rows[0]["round"]:
            bounds = [c["mu_min"] / 2 * d / (q ** -row["steps"] - 1) for row, d in zip(rows, squared, strict=True)]
            assert np.mean([row["suboptimality"] for row in rows]) <= np.mean(bounds)


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


def test_sonata_on_the_complete_graph_is_dane_after_its_first_round(heterogeneous):
    """In the first round, each client tracks its own gradient alone."""
    setting = Setting(clients=5, rounds=9, batch=None)
    sonata = Simulation(algorithms.create("sonata", {"tau": 0.7}), heterogeneous, setting)
    dane = Simulation(algorithms.create("dane", {"lam": 0.7}), heterogeneous, setting)
    sonata.step()
    dane.s = dane.s.replace(x=sonata.output)
    for _ in range(4):
        sonata.step()
        dane.step()
        np.testing.assert_allclose(sonata.output, dane.output, rtol=1e-9)


def test_fedred_with_p_one_and_eta_to_zero_is_dane(heterogeneous):
    dane = run("dane", {"lam": 0.7}, heterogeneous).x
    fedred = run("fedred", {"eta": 1e-12, "lam": 0.7, "p": 1.0}, heterogeneous).x
    np.testing.assert_allclose(fedred, dane, rtol=1e-8, atol=1e-10)


def test_fedred_gd_without_lambda_keeps_the_mean_on_gradient_descent_for_one_step(heterogeneous):
    """p = 1, equal clients' models: y_i = x - (G_i(x) - h_i) / eta = x - mean_j G_j(x) / eta."""
    gd = run("gd", {"lr": 0.05}, heterogeneous, rounds=1).x
    np.testing.assert_allclose(run("fedred-gd", {"eta": 20.0, "lam": 0.0, "p": 1.0}, heterogeneous, rounds=1).x, gd)


def test_fedpd_that_never_skips_is_feddyn_where_both_solve_exactly(heterogeneous):
    options = {"local_steps": 400, "rounds": 3}
    feddyn = run("feddyn", {"lr": 0.04, "alpha": 2.0}, heterogeneous, **options).x
    fedpd = run("fedpd", {"lr": 0.04, "eta": 0.5}, heterogeneous, **options).x
    np.testing.assert_allclose(fedpd, feddyn, rtol=1e-8)


def test_dane_plus_with_a_strict_rule_is_dane(heterogeneous):
    """The rule tightens as 1/r: late rounds solve the subproblem well; a stiff one is solved well at once."""
    exact = run("dane", {"lam": 200.0}, heterogeneous, rounds=3).x
    gd = run("dane+-gd", {"lam": 200.0, "lr": 1 / 215}, heterogeneous, rounds=3).x
    assert np.linalg.norm(gd - exact) < 0.05 * np.linalg.norm(exact - heterogeneous.start(1))


# --- local solvers, one client's model, diagnostics ---


@pytest.mark.parametrize("name", ["dane+-gd", "dane+-fgd"])
def test_local_solvers_meet_the_stopping_rule_and_no_earlier(name, heterogeneous):
    lam, lr, mu = 1.8, 0.04, 0.1
    c = {"lr": lr, "lam": lam, "mu": mu}
    # on one client h = 0 and F(y) = f(y) + lam/2 |y - x|^2
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
def test_the_drawn_clients_model_is_the_mean_of_what_is_picked(library):
    v = np.random.default_rng(0).standard_normal((4, 3))
    if library == "torch":
        v = pytest.importorskip("torch").from_numpy(v)
    for one in range(4):
        blocks = []
        for ids in (np.arange(3), np.arange(3, 4)):
            round = next(r for t in range(99) if (r := Round(t, 1, active=np.arange(4))).drawn == one)
            blocks.append(np.asarray(Steps(None, ids, None, round, None).pick(v[ids])))
        np.testing.assert_allclose(np.concatenate(blocks).mean(axis=0), np.asarray(v[one]), rtol=1e-14)


def test_every_client_is_drawn_equally_often():
    counts = np.bincount([drawn_client(0, t, 5) for t in range(5000)], minlength=5)
    assert (abs(counts - 1000) < 4 * np.sqrt(5000 * 0.2 * 0.8)).all()


@pytest.mark.parametrize("name", ["fedred", "fedred-gd", "fedred-sgd"])
@pytest.mark.parametrize("averaging", ["mean", "random"])
def test_the_theorems_average_is_no_communication_and_changes_no_iterate(name, averaging):
    problem = quadratic()
    options = {"eta": 30.0, "p": 0.3, "averaging": averaging}
    simulations = [
        Simulation(algorithms.create(name, options | more), problem, Setting(clients=5, rounds=6, batch=2), seed=2)
        for more in ({}, {"average": "weighted", "mu": 0.5})
    ]
    last, weighted = (simulation.run().rows[-1] for simulation in simulations)
    assert all(last[key] == weighted[key] for key in ("vectors_up", "vectors_down", "gradients", "samples", "steps"))
    assert (simulations[0].s.x == simulations[1].s.x).all() and last["loss"] != weighted["loss"]


def test_rounds_of_fedred_have_geometric_lengths(heterogeneous):
    rows = run("fedred-gd", {"eta": 30.0, "p": 0.05}, heterogeneous, rounds=600).rows
    lengths = np.diff([row["steps"] for row in rows])
    assert lengths.min() == 1 and abs(lengths.mean() - 20) < 4 * 20 / np.sqrt(600)
    assert rows[-1]["gradients"] == lengths.sum() + 600  # and one for each control variate


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


# --- mixing matrices ---


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(sorted(mixing.GRAPHS)),
    st.integers(1, 17),
    st.floats(0.05, 1.0),
    st.integers(0, 100),
)
def test_mixing_matrices_are_doubly_stochastic_and_mix_to_the_mean(kind, m, p, seed):
    try:
        network = mixing.create(kind, m, p, seed)
    except UserError as error:
        assert kind == "erdos-renyi" and "not connected" in str(error)
        return
    W = network.W
    np.testing.assert_allclose(W.sum(axis=0), 1, atol=1e-12)
    np.testing.assert_allclose(W.sum(axis=1), 1, atol=1e-12)
    assert (W >= -1e-15).all() and mixing.connected(W > 0)
    rows = np.random.default_rng(seed).standard_normal((m, 3))
    np.testing.assert_allclose(network.mix(rows), W @ rows, atol=1e-13)
    second = np.sort(abs(np.linalg.eigvalsh(W)))[-2] if m > 1 else 0
    assert second < 1 - 1e-9  # repeated mixing contracts to the mean


def test_both_libraries_mix_alike():
    torch = pytest.importorskip("torch")
    rows = np.random.default_rng(0).standard_normal((6, 3))
    network = mixing.create("grid", 6)
    assert (network.mix(torch.from_numpy(rows)).numpy() == network.mix(rows)).all()


@pytest.mark.parametrize(
    "W, problem",
    [
        ([[0.5, 0.5], [0.6, 0.4]], "doubly stochastic"),
        ([[1.5, -0.5], [-0.5, 1.5]], "doubly stochastic"),
        ([[1.0, 0.0]], "shape"),
    ],
)
def test_other_mixing_matrices_are_refused(W, problem):
    with pytest.raises(UserError, match=problem):
        mixing.Mixing(W)


@pytest.mark.parametrize("graph", ["ring", "grid", "erdos-renyi"])
def test_sonata_reaches_the_optimum_over_any_graph(graph, heterogeneous):
    options = {"tau": 5.0, "graph": graph, "step": 0.5, "link_p": 0.6}
    assert run("sonata", options, heterogeneous, rounds=600, eval_rounds=600).rows[-1]["distance"] < 1e-9


# --- what is refused before any job starts ---


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
def test_bad_fits_are_refused_when_experiments_expand(changes, problem):
    plain = {"algorithm": "dane", "parameters": {"lam": 1.0}, "problem": {"kind": "quadratic"}}
    plain["setting"] = {"clients": 5, "rounds": 2}
    expand.create(plain)
    with pytest.raises(UserError, match=problem):
        expand.create(plain | changes)


def test_examples_of_every_algorithm_run_on_networks_or_are_refused():
    assert {name for name in algorithms.names() if algorithms.get(name).exact_prox} == {"dane", "fedred", "sonata"}
    assert example("fedred-gd").exact_prox is False and logistic().has_prox() is False
