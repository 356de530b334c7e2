"""Large dense data stay in float32, on disk and in memory, and the optimum is found in float64."""

import tracemalloc

import numpy as np
import pytest

from fedatlas.data.dataset import Dataset
from fedatlas.federation.problems import logistic
from fedatlas.federation.problems.logistic import Logistic, LogisticRegression


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((4000, 30)).astype(np.float32)
    A /= np.linalg.norm(A, axis=1, keepdims=True)
    y = (A[:, 0] + 0.2 * rng.standard_normal(4000) > 0).astype(np.int64)
    data = Dataset("epsilon-like", A, y, None, None, 2, False, {})
    return LogisticRegression(l2=1e-4).build(data, None, None)


@pytest.fixture
def blocks(monkeypatch):
    monkeypatch.setattr(logistic, "BLOCK_BYTES", 1 << 14)


def test_data_are_neither_converted_nor_copied(problem, blocks):
    assert problem.A.dtype == problem.start(0).dtype == np.float32
    x = np.ones(problem.dim)
    tracemalloc.start()
    for use in (
        problem.value,
        problem.gradient,
        lambda x: problem.hessian_product(x)(x),
        problem.evaluate,
        lambda x: problem.smoothness,
    ):
        use(x)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.6 * problem.A.nbytes


def test_sums_are_in_double_precision(problem, blocks):
    double = Logistic(problem.A.astype(np.float64), problem.b > 0, problem.l2)
    x = np.random.default_rng(1).standard_normal(problem.dim)
    assert problem.value(x) == pytest.approx(double.value(x), rel=1e-14)
    assert problem.smoothness == pytest.approx(double.smoothness, rel=1e-12)
    np.testing.assert_allclose(problem.gradient(x), double.gradient(x), rtol=1e-11)
    np.testing.assert_allclose(problem.hessian_product(x)(x), double.hessian_product(x)(x), rtol=1e-10, atol=1e-15)


def test_optimum_to_the_last_digits(problem, blocks):
    result = problem.solve()
    assert result.gap <= 1e-12
    double = Logistic(problem.A.astype(np.float64), problem.b > 0, problem.l2).solve()
    assert result.F == pytest.approx(double.F, abs=1e-13)
    problem.optimum = result
    assert problem.evaluate(result.x)["suboptimality"] == pytest.approx(0, abs=1e-7)  # margins in float32
