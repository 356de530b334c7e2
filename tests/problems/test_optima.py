"""Optima with certificates, smoothness constants and proximal steps."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from fedatlas.errors import UserError
from fedatlas.federation.problems.logistic import Logistic
from fedatlas.federation.problems.softmax import Softmax
from tests.helpers import logistic, quadratic, softmax


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X / 16, y


def solved(make, **options):
    problem = make(**options)
    problem.optimum = problem.solve()
    return problem


@pytest.mark.parametrize("make", [logistic, softmax, lambda: softmax(bias=False, l2=1e-4), quadratic])
def test_optimum_is_certified(make):
    problem = solved(make)
    optimum, mu = problem.optimum, problem.constants()["mu"]
    gradient = problem.gradient(optimum.x)
    assert optimum.gap <= 1e-12
    assert gradient @ gradient / (2 * mu) <= 1e-12
    assert optimum.F == pytest.approx(problem.value(optimum.x), abs=1e-14)
    assert problem.evaluate(optimum.x)["suboptimality"] == pytest.approx(0, abs=1e-12)
    for step in 0.1 * np.random.default_rng(0).standard_normal((5, problem.dim)):
        above = problem.evaluate(optimum.x + step)["suboptimality"]
        assert above >= mu / 2 * (step @ step) * (1 - 1e-9)  # strong convexity
        assert above <= problem.smoothness / 2 * (step @ step) * (1 + 1e-9)


def test_softmax_of_two_classes_is_logistic(digits):
    X, y = digits[0], (digits[1] > 4).astype(int)
    two, binary = solved(lambda: Softmax(X, y, 2, l2=2e-3, bias=False)), solved(lambda: Logistic(X, y, l2=1e-3))
    W = two.optimum.x.reshape(2, -1)  # W[1] = -W[0] = x / 2, so that l2/2 |W|^2 = l2/4 |x|^2
    np.testing.assert_allclose(W[1] - W[0], binary.optimum.x, atol=1e-6)
    assert two.optimum.F == pytest.approx(binary.optimum.F, abs=1e-10)


@pytest.mark.parametrize("make", [logistic, softmax])
def test_without_strong_convexity_there_is_no_certificate(make):
    with pytest.raises(UserError, match="l2 > 0"):
        make(l2=0.0).solve()


def curvature(problem, x, steps=300):
    """Largest eigenvalue of the Hessian of F at x, by power iteration on differences of gradients."""
    v = np.random.default_rng(1).standard_normal(problem.dim)
    for _ in range(steps):
        v /= np.linalg.norm(v)
        v = (problem.gradient(x + 1e-5 * v) - problem.gradient(x - 1e-5 * v)) / 2e-5
    return np.linalg.norm(v)


def saturated(problem):
    """A point where softmax hesitates between its first two classes on all data."""
    x = np.zeros(problem.dim)
    x[-problem.classes + 2 :] = -30.0
    return x


@pytest.mark.parametrize(
    "make, worst",
    [
        (logistic, lambda problem: np.zeros(problem.dim)),
        (lambda: logistic(samples=10, dim=30), lambda problem: np.zeros(problem.dim)),
        (softmax, saturated),
        (lambda: softmax(samples=10, features=30), saturated),
        (lambda: softmax(classes=2, bias=False), lambda problem: np.zeros(problem.dim)),
        (quadratic, lambda problem: np.zeros(problem.dim)),
    ],
)
def test_smoothness_bounds_the_curvature_and_is_reached(make, worst):
    problem = make()
    L = problem.smoothness
    assert curvature(problem, worst(problem)) == pytest.approx(L, rel=1e-5)
    for x in np.random.default_rng(2).standard_normal((3, problem.dim)):
        assert curvature(problem, x, steps=50) <= L * (1 + 1e-8)


@pytest.mark.parametrize("diagonal", [False, True])
@pytest.mark.parametrize("weight", [1e-3, 1.0, 50.0])
def test_proximal_step_is_optimal(diagonal, weight):
    problem, clients = quadratic(diagonal=diagonal), np.array([0, 2, 3])
    v = np.random.default_rng(3).standard_normal((3, problem.dim))
    for anchor in (v, v[0]):
        y = problem.prox(anchor, weight, clients)
        residual = problem.full_batch(clients).grad(y) + weight * (y - anchor)
        assert np.abs(residual).max() <= 1e-11 * (1 + weight)


def test_proximal_step_needs_convexity():
    """A client whose subproblem has no minimiser has a row of NaN; the rows of all others are as they are alone."""
    problem, clients = quadratic(mu=0.1, similarity=5.0), np.arange(5)
    lowest = np.linalg.eigvalsh(problem.A).min(axis=1)
    weight = -lowest.mean()
    rows, convex = problem.prox(np.zeros(problem.dim), weight, clients), lowest > -weight
    assert 0 < convex.sum() < 5 and np.isfinite(rows[convex]).all() and np.isnan(rows[~convex]).all()
    assert (rows[convex] == problem.prox(np.zeros(problem.dim), weight, clients[convex])).all()
    with pytest.raises(UserError, match="no exact proximal step"):
        logistic().prox(np.zeros(7), 1.0, np.arange(5))
