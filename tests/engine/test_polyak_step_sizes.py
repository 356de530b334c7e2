"""The three aggregated Polyak step sizes of FedSPS's Appendix D.2.2."""

import numpy as np
import pytest

from fedatlas.federation.metrics import metric
from fedatlas.federation.problems.quadratic import SyntheticQuadratic
from tests.helpers import logistic


def gammas(problem, x):
    return [metric(f"sps_{name}").compute(problem, x) for name in ("mean", "pooled", "joint")]


def test_by_hand_where_proposition_2_does_not_hold():
    """f_1 = 5 (x - 0.1)^2 and f_2 = (x - 10)^2 / 2 at 0: losses 0.05 and 50, gradients -1 and -10."""
    problem = SyntheticQuadratic(centers=[[0.1], [10.0]], curvatures=[10.0, 1.0]).build(2)
    a, b, c = gammas(problem, np.zeros(1))
    assert a == pytest.approx((0.05 + 0.5) / 2)
    assert b == pytest.approx(50.05 / 101)
    assert c == pytest.approx(50.05 / 2 / 5.5**2)
    assert a < b < c


def test_variances_of_gradients_by_hand():
    problem = logistic()
    x = 0.1 * np.ones(problem.dim)
    variances, means = [], []
    for i in range(5):
        rows = problem.partition.client(i)
        gradients = [
            problem.l2 * x - b * a / (1 + np.exp(b * (a @ x)))
            for a, b in zip(problem.A[rows], problem.b[rows], strict=True)
        ]
        means.append(np.mean(gradients, axis=0))
        variances.append(np.mean([np.sum((g - means[-1]) ** 2) for g in gradients]))
    between = np.mean([np.sum((g - np.mean(means, axis=0)) ** 2) for g in means])
    assert metric("client_variance").compute(problem, x) == pytest.approx(between)
    assert metric("sample_variance").compute(problem, x) == pytest.approx(np.mean(variances))
