"""Compiled metrics and gradients of sparse logistic rows are those of plain formulas, alone and together."""

import numpy as np
import pytest
from scipy import sparse

from fedatlas.federation import compiled
from fedatlas.federation.compiled import scoring
from fedatlas.federation.problems.logistic import WeightedBatch, csr_rows
from tests.engine.test_kernels import problem


@pytest.mark.parametrize("form", [{}, {"ones": True}, {"dense": True}], ids=["csr", "csr of ones", "dense"])
@pytest.mark.parametrize("weighted", [False, True])
def test_points_have_the_bits_that_they_have_alone(form, weighted):
    logistic = problem(samples=200, **form)
    logistic.row_weights = np.arange(200.0) % 3 if weighted else None
    points = list(np.random.default_rng(1).standard_normal((21, logistic.dim)))
    points[3] = points[3] * np.nan
    with np.errstate(invalid="ignore"):
        for x, metrics in zip(points, logistic.evaluate_all(points), strict=True):
            np.testing.assert_equal(metrics, logistic.evaluate(x))
            assert metrics["loss"] == pytest.approx(logistic.value(x), rel=2e-15, nan_ok=True)
            right = ((logistic.A @ x > 0) == (logistic.b > 0))[logistic.client_rows]
            assert metrics["accuracy"] == np.mean(right)


def test_losses_are_exact_in_every_range():
    margins = np.concatenate([np.linspace(-40, 40, 4001), np.logspace(-300, 300, 601), [-1e300, -800.0]])
    row = csr_rows(sparse.csr_matrix([[1.0]]), np.ones(1, bool))
    losses, accuracies = scoring.mean_scores(row, np.zeros(0), list(margins[:, None]))
    np.testing.assert_allclose(losses, np.logaddexp(0, -margins), rtol=1e-15, atol=1e-300)
    np.testing.assert_array_equal(accuracies, margins > 0)


def batches(A, b, weights, l2=0.1):
    """A compiled batch and its twin by products of SciPy."""
    return [WeightedBatch(A, b, weights, len(b), l2, rows) for rows in (compiled.sparse_rows(A), None)]


@pytest.mark.parametrize("ones", [False, True])
@pytest.mark.parametrize("samples", [1, 7, 64, 203])
def test_gradients_and_losses_are_those_of_products(samples, ones):
    logistic = problem(samples=samples, ones=ones)
    weights = np.arange(samples) % 3 / samples
    batch, twin = batches(logistic.A, logistic.b, weights)
    for y in 3 * np.random.default_rng(1).standard_normal((5, logistic.dim)):
        (value, gradient), (twin_value, twin_gradient) = batch.value_and_grad(y), twin.value_and_grad(y)
        assert value == pytest.approx(twin_value, rel=1e-14)
        np.testing.assert_allclose(gradient, twin_gradient, rtol=1e-13, atol=1e-15)
        np.testing.assert_array_equal(batch.grad(y), gradient)
        difference = [
            (batch.value_and_grad(y + h)[0] - batch.value_and_grad(y - h)[0]) / 2e-6 for h in 1e-6 * np.eye(len(y))
        ]
        np.testing.assert_allclose(np.ravel(difference), gradient[0], atol=1e-8)


def test_gradients_are_exact_in_every_range():
    margins = np.concatenate([np.linspace(-40, 40, 401), np.logspace(-150, 150, 61), [-1e150, -800.0, 800.0]])
    batch, twin = batches(sparse.csr_matrix([[1.0]]), np.ones(1), np.ones(1), l2=0)
    for margin in margins:
        np.testing.assert_allclose(batch.grad(margin), twin.grad(margin), rtol=1e-14, atol=1e-300)
        np.testing.assert_allclose(
            batch.value_and_grad(margin)[0], twin.value_and_grad(margin)[0], rtol=1e-14, atol=1e-300
        )
