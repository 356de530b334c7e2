"""Compiled gradients of sparse logistic rows are those of SciPy's products."""

import numpy as np
import pytest
from scipy import sparse

from fedatlas.federation import compiled
from fedatlas.federation.problems.logistic import WeightedBatch
from tests.engine.test_kernels import problem


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
