"""Constants by brute force; theorems against the paper's tables and lemmas, and against simulated runs."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit

from fedatlas import UserError, algorithms, data
from fedatlas.analysis.theory import THEOREMS, Constants, averaging, estimate, report, variance
from fedatlas.problems.logistic import Logistic
from fedatlas.simulation.arrays import State
from fedatlas.simulation.engine import Simulation
from fedatlas.simulation.setting import Setting
from tests.helpers import logistic, quadratic

NAMES = list(THEOREMS)
STRONG = [name for name, theorem in THEOREMS.items() if not theorem.convex]
SEEDS, CLIENTS = 24, 4


@pytest.fixture(scope="module")
def problem():
    found = logistic(samples=40, dim=4, heterogeneous=False)
    found.optimum = found.solve()
    return found


@pytest.fixture(scope="module")
def constants(problem):
    return estimate(problem)


# --- constants ---


def one_sample_gradients(problem, x):
    return np.concatenate([problem.batch([0], np.array([[j]])).grad(x) for j in range(problem.samples)])


def points(problem, scales=(0.1, 1, 10, 1000), seed=1):
    rng = np.random.default_rng(seed)
    return [scale * rng.standard_normal(problem.dim) for scale in scales for _ in range(25)]


def test_L_is_the_largest_curvature_and_mu_bounds_the_smallest(problem, constants):
    v = np.ones(problem.dim)
    for _ in range(2000):
        v = problem.hessian(np.zeros(problem.dim)) @ v
        v /= np.linalg.norm(v)
    assert constants.L == pytest.approx(v @ problem.hessian(np.zeros(problem.dim)) @ v, rel=1e-9)
    for x in points(problem):
        curvatures = np.linalg.eigvalsh(problem.hessian(x))
        assert constants.mu - 1e-12 <= curvatures[0] and curvatures[-1] <= constants.L + 1e-12


def test_variance_by_enumeration(problem):
    for x in points(problem, (1, 10)):
        gradients = one_sample_gradients(problem, x)
        np.testing.assert_allclose(gradients.mean(axis=0), problem.gradient(x), atol=1e-12)
        expected = np.mean(np.sum((gradients - gradients.mean(axis=0)) ** 2, axis=1))
        assert variance(problem, x) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("spread", [0.0, 1.5], ids=["equal rows", "heavy tails"])
def test_sigma_bounds_the_moments_at_every_point(spread):
    problem = logistic(samples=40, dim=4, heterogeneous=False)
    scale = np.exp(spread * np.random.default_rng(5).standard_normal((40, 1)))
    problem = Logistic(problem.A * scale, problem.b > 0, 0.1)
    c = estimate(problem)
    second, fourth = [], []
    for x in points(problem):
        gradients = one_sample_gradients(problem, x)
        distances = np.linalg.norm(gradients - gradients.mean(axis=0), axis=1)
        second.append(np.mean(distances**2) ** 0.5)
        fourth.append(np.mean(distances**4) ** 0.25)
    assert 0.4 * c.sigma < max(second) <= c.sigma
    assert 0.4 * c.sigma4 < max(fourth) <= c.sigma4
    assert c.sigma <= c.sigma4


@pytest.mark.parametrize("rows", [1, 40], ids=["one row", "many rows"])
def test_Q_bounds_the_change_of_the_hessian(rows):
    problem = logistic(samples=40, dim=4, heterogeneous=False)
    problem = Logistic(problem.A[:rows], problem.b[:rows] > 0, 0.1)
    Q = estimate(problem).Q
    rng = np.random.default_rng(2)
    steepest = math.log(2 + math.sqrt(3))  # where |s''| is largest
    starts = [steepest * a / (a @ a) for a in problem.A] + [rng.standard_normal(4) for _ in range(200)]
    ratios = []
    for u in starts:
        direction = u / np.linalg.norm(u) if rows == 1 else rng.standard_normal(4)
        w = u + 10.0 ** rng.uniform(-4, 1) * direction if rows > 1 else u + 1e-4 * direction
        change = np.linalg.norm(problem.hessian(u) - problem.hessian(w), 2)
        ratios.append(change / np.linalg.norm(u - w))
    assert max(ratios) <= Q
    assert max(ratios) > (0.999 if rows == 1 else 0.1) * Q


def test_distance_and_gap_are_those_of_the_start(problem):
    x0 = np.arange(4.0)
    c = estimate(problem, x0)
    assert c.D0 == pytest.approx(np.linalg.norm(x0 - problem.optimum.x))
    assert c.gap == pytest.approx(problem.value(x0) - problem.optimum.F)
    assert estimate(problem).D0 == pytest.approx(np.linalg.norm(problem.start(0) - problem.optimum.x))
    assert set(c.how) == {"L", "mu", "sigma", "sigma4", "Q", "D0", "gap"}


def test_sparse_data_have_the_same_constants(problem, constants):
    other = estimate(Logistic(sparse.csr_matrix(problem.A), problem.b > 0, problem.l2))
    for name in constants.how:
        assert getattr(other, name) == pytest.approx(getattr(constants, name), rel=1e-6)


def test_refuses_what_it_knows_nothing_of(problem):
    with pytest.raises(UserError, match="logistic"):
        estimate(quadratic())
    with pytest.raises(UserError, match="share"):
        estimate(logistic())
    with pytest.raises(UserError, match="D0"):
        estimate(problem, problem.optimum.x)


# --- the paper's formulas ---


def drawn(seed):
    """Constants, M, K and T over many magnitudes, as a theorem allows them."""
    rng = np.random.default_rng(seed)
    L, condition, sigma, Q, D0 = 10 ** rng.uniform(-2, 2, 5)
    mu = L / (1 + condition)
    gap = rng.uniform(mu, L) / 2 * D0**2
    M, K = (int(10 ** rng.uniform(0, 4)) for _ in range(2))
    T = K * int(10 ** rng.uniform(3, 6))
    return Constants(L, mu, sigma, sigma, Q, D0, gap), M, K, T


# Table 2 without logarithms, times the theorem's number, times what its logarithms are where noise drowns everything.
RATES = {
    "B.1": {
        "noise": (2, lambda L, mu, s, Q, D, M, T, R: s**2 / (mu * M * T)),
        "drift": (400, lambda L, mu, s, Q, D, M, T, R: L * s**2 / (mu**2 * T * R**2)),
    },
    "C.13": {
        "noise": (4, lambda L, mu, s, Q, D, M, T, R: s**2 / (mu * M * T)),
        "drift": (8101, lambda L, mu, s, Q, D, M, T, R: L**2 * s**2 / (mu**3 * T * R**3)),
    },
    "C.1": {
        "noise": (4, lambda L, mu, s, Q, D, M, T, R: s**2 / (mu * M * T)),
        "drift": (55, lambda L, mu, s, Q, D, M, T, R: L * s**2 / (mu**2 * M * T * R**2)),
        "curvature": (math.e**18, lambda L, mu, s, Q, D, M, T, R: Q**2 * s**4 / (mu**5 * T**2 * R**6)),
    },
    "D.1": {
        "noise": (3, lambda L, mu, s, Q, D, M, T, R: s**2 / (mu * M * T)),
        "curvature": (3073, lambda L, mu, s, Q, D, M, T, R: Q**2 * s**4 / (mu**5 * T**2 * R**2)),
    },
    "E.1": {
        "initial": (2, lambda L, mu, s, Q, D, M, T, R: L * D**2 / (T * R) * math.log(math.e**2 + T * R) ** 2),
        "noise": (2 * 2**2, lambda L, mu, s, Q, D, M, T, R: s * D / (M * T) ** 0.5),
        "drift": (1005 * 4**4, lambda L, mu, s, Q, D, M, T, R: (L * s**2 * D**4 / (T * R**2)) ** (1 / 3)),
    },
    "E.2": {
        "initial": (10, lambda L, mu, s, Q, D, M, T, R: L * D**2 / (T * R) * math.log(math.e**2 + T * R) ** 2),
        "noise": (5, lambda L, mu, s, Q, D, M, T, R: s * D / (M * T) ** 0.5),
        "drift": (16411 * 4**4, lambda L, mu, s, Q, D, M, T, R: (L**2 * s**2 * D**6 / (T * R**3)) ** (1 / 4)),
    },
    "E.3": {
        "initial": (10, lambda L, mu, s, Q, D, M, T, R: L * D**2 / (T * R) * math.log(math.e**2 + T * R) ** 2),
        "noise": (5, lambda L, mu, s, Q, D, M, T, R: s * D / (M * T) ** 0.5),
        "drift": (139 * 3**3, lambda L, mu, s, Q, D, M, T, R: (L * s**2 * D**4 / (M * T * R**2)) ** (1 / 3)),
        "curvature": (math.e**19 * 8**8, lambda L, mu, s, Q, D, M, T, R: (Q * s**2 * D**5 / (T * R**3)) ** (1 / 3)),
    },
    "E.4": {
        "initial": (50, lambda L, mu, s, Q, D, M, T, R: L * D**2 / T * math.log(math.e + T)),
        "noise": (6, lambda L, mu, s, Q, D, M, T, R: s * D / (M * T) ** 0.5 * math.log(math.e**2 + T)),
        "curvature": (
            3076,
            lambda L, mu, s, Q, D, M, T, R: (Q * s**2 * D**5 / (T * R)) ** (1 / 3) * math.log(math.e**5 + T) ** 4,
        ),
    },
}


@pytest.mark.parametrize("name", NAMES)
def test_terms_have_the_rates_of_table_2(name):
    for seed in range(20):
        c, M, K, T = drawn(seed)
        c = replace(c, sigma=1e60, sigma4=1e60)
        terms = THEOREMS[name].terms(c, M, K, T)
        for term, (number, rate) in RATES[name].items():
            expected = number * rate(c.L, c.mu, 1e60, c.Q, c.D0, M, T, T / K)
            assert terms[term] == pytest.approx(expected, rel=1e-9), term
        assert set(terms) - set(RATES[name]) <= {"initial"}


@pytest.mark.parametrize("name", STRONG)
def test_error_of_the_start_decays_as_the_simplified_theorems_say(name):
    for seed in range(20):
        c, M, K, T = drawn(seed)
        R, slow = T / K, {"B.1": 1, "C.13": 3, "C.1": 3}.get(name)
        if name == "D.1":
            expected = math.exp(-c.mu * T / (8 * c.L)) * 4 * c.L * c.D0**2
        else:
            psi = c.gap + c.mu / (2 * slow) * c.D0**2
            expected = math.exp(min(-c.mu * T / (slow * c.L), -math.sqrt(c.mu * T * R / (slow**2 * c.L)))) * psi
        assert THEOREMS[name].terms(c, M, K, T)["initial"] == pytest.approx(expected, rel=1e-9)


# The bounds for any eta from which the theorems follow; lam is the weight of the augmentation.
LEMMAS = {
    "B.1": lambda n, L, m, s, Q, D, P, M, K, T: (  # Lemma B.4
        math.exp(-max(n * m, (n * m / K) ** 0.5) * T) * P
        + (n / (m * K)) ** 0.5 * s**2 / (2 * M)
        + n * s**2 / (2 * M)
        + 390 * n**1.5 * L * (K / m) ** 0.5 * s**2
        + 7 * n**2 * L * K * s**2
    ),
    "C.13": lambda n, L, m, s, Q, D, P, M, K, T: (  # Lemma C.15
        math.exp(-max(n * m, (n * m / K) ** 0.5) * T / 3) * P
        + (n / (m * K)) ** 0.5 * s**2 / M
        + 100 * n**2 * L**2 * K * s**2 / m
    ),
    "C.1": lambda n, L, m, s, Q, D, P, M, K, T: (  # Lemma C.4
        math.exp(-max(n * m, (n * m / K) ** 0.5) * T / 3) * P
        + (n / (m * K)) ** 0.5 * s**2 / M
        + 2 * n**1.5 * L * (K / m) ** 0.5 * s**2 / M
        + math.e**9 * n**4 * Q**2 * K**2 * s**4 / m
    ),
    "D.1": lambda n, L, m, s, Q, D, P, M, K, T: (  # Lemma D.4
        math.exp(-n * m * T / 2) * D**2 / n + n * s**2 / M + 192 * n**4 * Q**2 * K**2 * s**4 / m
    ),
    "E.1": lambda n, L, m, s, Q, D, P, M, K, T: (  # Lemma E.5
        m * D**2 / 2
        + L * D**2 / 2 * math.exp(-((n * m / K) ** 0.5) * T)
        + (n / (m * K)) ** 0.5 * s**2 / (2 * M)
        + n * s**2 / (2 * M)
        + (390 * n**1.5 * (K / m) ** 0.5 + 7 * n**2 * K) * (L + m) * s**2
    ),
    "E.2": lambda n, L, m, s, Q, D, P, M, K, T: (  # Lemma E.8
        m * D**2 / 2
        + L * D**2 / 2 * math.exp(-((n * m * T**2 / (9 * K)) ** 0.5))
        + (n / (m * K)) ** 0.5 * s**2 / M
        + 200 * n**2 * (L**2 / m + m) * K * s**2
    ),
    "E.3": lambda n, L, m, s, Q, D, P, M, K, T: (  # Lemma E.11
        m * D**2 / 2
        + L * D**2 / 2 * math.exp(-((n * m * T**2 / (9 * K)) ** 0.5))
        + (n / (m * K)) ** 0.5 * s**2 / M
        + 2 * n**1.5 * (L + m) * (K / m) ** 0.5 * s**2 / M
        + math.e**9 * n**4 * Q**2 * K**2 * s**4 / m
    ),
    "E.4": lambda n, L, m, s, Q, D, P, M, K, T: (  # Lemma D.4 for the augmented objective, as in Proposition E.7
        m * D**2 / 2 + math.exp(-n * m * T / 2) * D**2 / n + n * s**2 / M + 192 * n**4 * Q**2 * K**2 * s**4 / m
    ),
}


@pytest.mark.parametrize("name", NAMES)
def test_bounds_follow_from_their_lemmas_at_the_step_size(name):
    theorem = THEOREMS[name]
    for seed in range(300):
        c, M, K, T = drawn(seed)
        eta = theorem.step_size(c, M, K, T)
        weight = theorem.augmentation(c, M, K, T) or c.mu
        potential = c.gap + c.mu / (2 if name == "B.1" else 6) * c.D0**2
        lemma = LEMMAS[name](eta, c.L, weight, c.sigma, c.Q, c.D0, potential, M, K, T)
        assert lemma <= theorem.bound(c, M, K, T) * (1 + 1e-9)
        assert 0 < eta <= 1 / (c.L + theorem.augmentation(c, M, K, T))


@pytest.mark.parametrize("name", NAMES)
def test_units(name):
    """With w in units of r and F in units of f, bounds are in f, step sizes in r^2 / f and lambda in f / r^2."""
    theorem, r, f = THEOREMS[name], 7.0, 0.3
    for seed in range(50):
        c, *where = drawn(seed)
        scale = {"L": f / r**2, "mu": f / r**2, "sigma": f / r, "sigma4": f / r, "Q": f / r**3, "D0": r, "gap": f}
        scaled = replace(c, **{key: getattr(c, key) * by for key, by in scale.items()})
        assert theorem.bound(scaled, *where) == pytest.approx(f * theorem.bound(c, *where))
        assert theorem.step_size(scaled, *where) == pytest.approx(r**2 / f * theorem.step_size(c, *where))
        assert theorem.augmentation(scaled, *where) == pytest.approx(f / r**2 * theorem.augmentation(c, *where))


@pytest.mark.parametrize("name", NAMES)
def test_bounds_fall_with_clients_and_rounds(name, constants):
    theorem, T = THEOREMS[name], 2**20
    by_clients = [theorem.bound(constants, M, 16, T) for M in (1, 4, 16, 64, 256)]
    by_rounds = [theorem.bound(constants, 16, T // R, T) for R in (2**10, 2**12, 2**14, 2**16, 2**18)]
    by_steps = [theorem.bound(constants, 16, 16, T) for T in (2**16, 2**20, 2**24)]
    for bounds in (by_clients, by_rounds, by_steps):
        assert all(later < earlier for earlier, later in itertools.pairwise(bounds))


@pytest.mark.parametrize("name", NAMES)
def test_gradient_noise_is_all_that_is_left_after_many_rounds(name, constants):
    theorem = THEOREMS[name]
    early = theorem.terms(constants, 8, 2**10, 2**14)
    late = theorem.terms(constants, 8, 4, 2**400 if theorem.convex else 2**40)
    assert early["noise"] < 0.5 * sum(early.values())
    assert late["noise"] > 0.9 * sum(late.values())


def test_without_noise_only_the_start_matters(constants):
    quiet = replace(constants, sigma=0.0, sigma4=0.0)
    for name, theorem in THEOREMS.items():
        terms = theorem.terms(quiet, 4, 4, 40)
        assert sum(terms.values()) == terms["initial"] > 0, name
        share = 4 if theorem.averaged else 1
        weight = theorem.augmentation(quiet, 4, 4, 40)
        assert theorem.step_size(quiet, 4, 4, 40) == pytest.approx(1 / (share * (quiet.L + weight))), name


def test_convex_theorems_do_not_depend_on_mu_and_others_need_it(constants):
    flat, where = replace(constants, mu=0.0), (8, 4, 4000)
    for theorem in THEOREMS.values():
        assert theorem.applies(constants, *where)
        assert theorem.applies(flat, *where) == theorem.convex
        if theorem.convex:
            assert theorem.bound(flat, *where) == theorem.bound(constants, *where)
            assert not theorem.applies(flat, 8, 4, theorem.least_steps - 1)


def test_the_fourth_moment_is_used_under_assumption_2_only(constants):
    larger = replace(constants, sigma4=2 * constants.sigma4)
    for theorem in THEOREMS.values():
        changed = theorem.bound(larger, 8, 4, 4000) != theorem.bound(constants, 8, 4, 4000)
        assert changed == ("Assumption 2" in theorem.assumptions)


# --- simulations ---


def gradient(problem, index, visited, weight, x0):
    """One-sample gradients, augmented by weight/2 |y - x0|^2, that note where they are asked for."""
    a, b = problem.A[index], problem.b[index][:, None]

    def g(y):
        visited.append(y)
        return -b * expit(-b * np.vecdot(a, y)[:, None]) * a + problem.l2 * y + weight * (y - x0)

    return g


def simulate(problem, theorem, algorithm, weight, K, T, x0):
    """F(output) - F* of SEEDS runs of CLIENTS clients, by the algorithm's own hooks: (SEEDS,)."""
    rng, rows = np.random.default_rng(0), SEEDS * CLIENTS
    rho, mean = averaging(algorithm.lr, weight or problem.l2, T), 0.0
    s, _ = algorithm.init(np.broadcast_to(x0, (SEEDS, problem.dim)))
    for start in range(0, T, K):
        visited = []
        draws = rng.integers(problem.samples, size=(K, rows))
        steps = [gradient(problem, index, visited, weight if theorem.averaged else 0.0, x0) for index in draws]
        broadcast = State(**{name: np.repeat(value, CLIENTS, axis=0) for name, value in s.items()})
        sent, _ = algorithm.client(broadcast, State(), steps)
        s = algorithm.server(s, State(**{name: over_clients(value) for name, value in sent.items()}), None)
        mean = mean + sum(rho[start + k] * over_clients(y) for k, y in enumerate(visited))
    outputs = mean if theorem.averaged else algorithm.output(s)
    return np.array([problem.value(x) - problem.optimum.F for x in outputs])


def over_clients(rows):
    return rows.reshape(SEEDS, CLIENTS, -1).mean(axis=1)


@pytest.mark.parametrize("name", NAMES)
def test_simulated_runs_are_within_the_bound(name, problem):
    theorem, x0 = THEOREMS[name], 5 * np.ones(problem.dim)
    K, T = 4, max(400, theorem.least_steps)
    where = (estimate(problem, x0), CLIENTS, K, T)
    algorithm = algorithms.create(theorem.algorithm, theorem.parameters(*where))
    gaps = simulate(problem, theorem, algorithm, theorem.augmentation(*where), K, T, x0)
    assert gaps.mean() <= theorem.bound(*where)
    # the mean is that of a method that works, and of runs that differ
    assert gaps.min() > 0 and gaps.std() > 0
    assert gaps.mean() < where[0].gap / 5


@pytest.mark.parametrize("name", NAMES)
def test_simulated_runs_are_within_a_bound_that_says_something(name):
    """On almost equal samples, and equal ones for convex theorems, bounds lie below F(x0) - F*."""
    theorem = THEOREMS[name]
    spread, T = 0.0 if theorem.convex else 1e-3, 4000 if name == "E.4" else max(500, theorem.least_steps)
    A = np.ones((30, 1)) + spread * np.random.default_rng(0).standard_normal((30, 1))
    problem = Logistic(A, np.ones(30), 1.0)
    problem.optimum = problem.solve()
    x0 = np.full(1, 5.0)
    c = estimate(problem, x0)
    # norms of rows say nothing about how alike they are: moments by enumeration, at the points that runs can visit
    noise = max(math.sqrt(variance(problem, np.full(1, x))) for x in np.linspace(-5, 5, 101)) if spread else 0.0
    where = (replace(c, sigma=noise, sigma4=2 * noise), CLIENTS, 1, T)
    algorithm = algorithms.create(theorem.algorithm, theorem.parameters(*where))
    gaps = simulate(problem, theorem, algorithm, theorem.augmentation(*where), 1, T, x0)
    assert gaps.mean() <= theorem.bound(*where) < 0.5 * c.gap


@pytest.mark.parametrize("variant", [1, 2])
def test_augmentation_around_the_origin_is_more_l2(variant):
    plain = logistic(heterogeneous=False, l2=0.05)
    plain.start_scale = 0.0
    heavier = logistic(heterogeneous=False, l2=0.05 + 0.3)
    heavier.start_scale = 0.0
    setting = Setting(clients=3, local_steps=4, rounds=6, batch=2)
    augmented = algorithms.create("fedac-convex", {"lr": 0.2, "lam": 0.3, "variant": variant})
    direct = algorithms.create(f"fedac-{variant}", {"lr": 0.2, "mu": 0.3})
    found = Simulation(augmented, plain, setting, seed=1).run().x
    np.testing.assert_allclose(found, Simulation(direct, heavier, setting, seed=1).run().x, rtol=1e-10)
    assert np.linalg.norm(found) > 1e-3


def test_augmentation_pulls_to_the_start():
    problem = logistic(heterogeneous=False)
    algorithm = algorithms.create("fedac-convex", {"lr": 1e-5, "lam": 1e4})
    run = Simulation(algorithm, problem, Setting(clients=2, local_steps=2, rounds=200, batch=None), seed=1)
    x = run.run().x
    assert 0 < np.linalg.norm(x - run.x0) < 1e-3
    np.testing.assert_allclose(problem.gradient(x) + 1e4 * (x - run.x0), 0, atol=1e-8)


# --- report ---


def test_report(tmp_path, capsys):
    data.prepare("breast_cancer", tmp_path)
    spec = {"kind": "logistic", "data": "breast_cancer", "l2": 0.01}
    rows = report(spec, 8, 4, 403, tmp_path)
    printed = capsys.readouterr().out
    assert "T = 400" in printed
    values = {row["constant"]: row["value"] for row in rows if "constant" in row}
    found = {row["theorem"]: row for row in rows if "theorem" in row}
    assert list(found) == NAMES and values["mu"] == 0.01
    c = Constants(**values)
    for name, theorem in THEOREMS.items():
        row = found[name]
        assert row["applies"] == (400 >= theorem.least_steps)
        assert row["bound"] == (theorem.bound(c, 8, 4, 400) if row["applies"] else None)
        assert (f"{row['bound']:.4g}" if row["applies"] else "does not apply") in printed
    assert found["B.1"]["gamma"] == pytest.approx(math.sqrt(found["B.1"]["eta"] / (0.01 * 4)))
    assert found["E.1"]["lambda"] > 0 and found["B.1"]["lambda"] is None
    report(spec, 8, 4, 400, tmp_path, show=None)
    assert capsys.readouterr().out == ""
    with pytest.raises(UserError, match="steps"):
        report(spec, 8, 4, 3, tmp_path)
