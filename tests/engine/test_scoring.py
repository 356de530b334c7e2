"""Metrics of sparse logistic data in one compiled pass are those of the plain formulas, alone and together."""

import numpy as np
import pytest
from scipy import sparse

from fedatlas.federation.compiled import scoring
from fedatlas.federation.problems.logistic import csr_rows
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
