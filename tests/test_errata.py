"""Errata and key lemmas of the papers.

Each erratum's program refutes its statement in at most ten lines of NumPy, and no smaller counterexample exists. A key
lemma holds on drawn instances, and without its condition does not. FedAWE's are in theory/test_mixing.py.
"""

import ast
import itertools
import re
from pathlib import Path

import numpy as np
import pytest

from fedatlas.federation.algorithms import ALGORITHMS

ERRATA = Path(__file__).parents[1] / "docs" / "errata"
PAGES = sorted(ERRATA.glob("*.md"))


def program(page):
    """The one program of a page."""
    (code,) = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    return code


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_program(page):
    """It runs, imports NumPy alone, asserts what it shows, and has at most ten lines after the import."""
    code = program(page)
    tree = ast.parse(code)
    imports = [ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    assert imports == ["import numpy as np"]
    assert len(code.splitlines()) <= 11 and any(isinstance(node, ast.Assert) for node in ast.walk(tree))
    exec(compile(tree, page.name, "exec"), {})


def test_proposition_2_of_fedsps_is_minimal():
    """Two clients with squares of whole gradients and whole losses: none smaller refutes it; one client never does."""
    found = []
    for losses in itertools.product(range(1, 8), repeat=2):
        for gradients in itertools.combinations(range(1, 5), 2):
            squares = np.square(gradients)
            if np.mean(losses) / np.mean(squares) > np.mean(losses / squares) + 1e-12:
                found.append((sum(gradients), losses))
    assert min(found) == (3, (1, 5))


def test_lemma_8_of_fedsps_needs_a_lower_bound_below_the_minimum():
    """With l* = f* it is an equality for f = x^2 / 2, and any lower one refutes it."""
    for lower in (0.0, -1e-3, -1.0):
        left = (1 / 2 - lower) / 1
        assert (left > 1 / 2) == (lower < 0)


def test_lemma_c4_of_fedspeed_fails_exactly_above_gamma_1():
    """One client, one local step, a gradient of 0: from eta_l = lambda on, and not before."""
    for eta in np.linspace(0.1, 2, 20):
        gamma = eta
        new = 1 - gamma
        assert (1 > (1 - new**2) / gamma + 1e-12) == (eta > 1 + 1e-12)


def test_theorem_4_4_of_fedspeed_diverges_between_lambda_and_two():
    """The round's map on (x, h) has a spectral radius above 1 at eta_l = 2 lambda for every lambda, not at lambda."""
    for s in (1e-3, 1e-2, 1e-1):
        for ratio, diverges in ((1, False), (2, True)):
            step = np.array([[1 - 2 * ratio * s, 2 * ratio - 1], [ratio * s, 1 - ratio]])
            assert (np.abs(np.linalg.eigvals(step)).max() > 1) == diverges


def test_theorem_4_4_of_fedspeed_first_fails_at_the_length_that_its_page_says():
    """The second counterexample with T from 2 on: 383 is the first."""
    lam, noise = 1 / 200, np.array([-2.0, 1.0, -1.0]) / 200
    step = np.array([[1 - 2 * lam, 1, 0], [lam, 0, 0], [-lam, 0, 1]])
    second, total, kappa, T = np.zeros((3, 3)), 0.0, 1 / 2 - 1536 * lam**2, 1
    while T * 32 * lam**3 + 65 * lam + 32 * lam**2 >= kappa * total:
        second = step @ second @ step.T + np.outer(noise, noise)
        total, T = total + second[2, 2], T + 1
    assert T == 383


def test_lemma_c5_of_fedspeed_fails_for_every_ascent_step_and_without_one_holds():
    """The right side of its page is P (1 - (1 + rho)^2), negative for rho > 0 and 0 for rho = 0, as the left side."""
    for rho in (0.0, 1e-3, 1 / 3, 1.0):
        e = np.array([-1.0, 1.0])
        right = 0 - np.mean((e + rho * e) ** 2) + 1
        assert (0 > right) == (rho > 0)


@pytest.mark.parametrize("variant, factor", [(1, 2), (2, 1)])
def test_propositions_b9_and_c8_of_fedac(variant, factor):
    """|X^-1 A X| <= 1 + factor gamma^2 mu / eta for a step of FedAc, whatever the curvature."""
    for eta, K, H in itertools.product((1e-3, 0.1, 1.0), (1, 4, 16), (0.1, 0.5, 1.0)):
        alpha, beta, gamma = ALGORITHMS.create(f"fedac-{variant}", {"lr": eta, "mu": 0.1}).coupling(K)
        b, c = 1 / beta, 1 / alpha
        A = [[(1 - b) * (1 - eta * H), b * (1 - eta * H)], [(1 - b) * (c - gamma * H), b * (c - gamma * H) + 1 - c]]
        X = np.array([[eta / gamma, 0], [1, 1]])
        limit = 1 + (factor * gamma**2 * 0.1 / eta if gamma > eta else 0)
        assert np.linalg.norm(np.linalg.inv(X) @ A @ X, 2) <= limit + 1e-12


def test_lemma_8_of_fedsps():
    """1 / (2 c L) <= (f(x) - f*) / (c |grad f(x)|^2) <= 1 / (2 c mu): between these are the step sizes."""
    rng, curvatures = np.random.default_rng(0), np.array([0.5, 2.0])
    g = rng.standard_normal((99, 2)) * curvatures  # at x, where f(x) - f* = <x, g> / 2
    step = ALGORITHMS.create("fedsps", {"c": 3.0}).step((g**2 / curvatures).sum(1, keepdims=True) / 2, g, np.inf)
    assert 1 / (2 * 3 * 2) <= step.min() < 0.1 and 0.3 < step.max() <= 1 / (2 * 3 * 0.5)


@pytest.mark.parametrize("lam, holds", [(1, True), (0.1, False)])
def test_lemma_20_of_fedred(lam, holds):
    """f(mean y) - f(x*) + (mu + lam)/2 mean |y_i - x*|^2 <= lam/2 |x - x*|^2 where lam >= delta_A = 1."""
    curvatures, slopes, found = np.array([3.0, 1.0]), np.array([2.0, -2.0]), []
    for x in np.linspace(-3, 3, 25):
        h = (curvatures - 2) * x + slopes
        y = (lam * x + h - slopes) / (curvatures + lam)
        found.append(y.mean() ** 2 + (1 + lam) / 2 * np.mean(y**2) <= lam / 2 * x**2 + 1e-12)
    assert all(found) == holds


@pytest.mark.parametrize("K", [1, 5])
def test_lemma_c1_of_fedspeed(K):
    """x_K - x = -lam sum_k gamma_k q_k + gamma lam g_hat for any quasi-gradients q_k, gamma the sum of gamma_k."""
    lam, eta, rng = 0.5, 0.2, np.random.default_rng(0)
    x, g_hat, q = rng.standard_normal(3), rng.standard_normal(3), rng.standard_normal((K, 3))
    weights = eta / lam * (1 - eta / lam) ** np.arange(K - 1, -1, -1)
    y = x
    for k in range(K):
        y = y - eta * (q[k] - g_hat + (y - x) / lam)
    np.testing.assert_allclose(y - x, -lam * weights @ q + weights.sum() * lam * g_hat, atol=1e-12)
