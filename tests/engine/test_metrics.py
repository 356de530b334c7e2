"""Metrics that a setting names besides those that the problem reports, and some of them by hand."""

from types import SimpleNamespace

import numpy as np
import pytest

from fedatlas.errors import UserError
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation
from fedatlas.federation.metrics import METRICS, Metric, metric
from fedatlas.federation.problems.quadratic import SyntheticQuadratic
from tests.helpers import example, logistic

LENGTH = Metric(name="length", words="length of the output", compute=lambda problem, x: np.linalg.norm(x))


@pytest.fixture
def length(monkeypatch):
    """A family that has one more metric, which is computed."""
    monkeypatch.setitem(METRICS.builtin, "length", (LENGTH, __name__))


def run(name="fedavg", **options):
    setting = Setting(**{"clients": 5, "rounds": 3, "eval_rounds": 1} | options)
    return Simulation(example(name), logistic(), setting).run()


def test_a_named_metric_is_a_column_after_those_of_the_problem(length):
    plain, result = run("fedsps", record=["step_size"]), run("fedsps", record=["step_size"], metrics=["length", "loss"])
    assert (result.x == plain.x).all()
    for row, other in zip(plain.rows, result.rows, strict=True):
        names = list(row)
        last = max(names.index(name) for name in logistic().evaluate(plain.x))
        assert list(other) == [*names[: last + 1], "length", *names[last + 1 :]]
    assert result.rows[-1]["length"] == pytest.approx(np.linalg.norm(result.x))
    assert type(result.rows[0]["length"]) is float


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


def test_two_labels_by_hand():
    labels = np.array([0, 0, 1, 2, 1, 2, 0, 3])
    split = SimpleNamespace(histogram=lambda y, classes: np.array([[2, 1, 1, 0], [1, 1, 1, 1]]))
    share = metric("two_labels").compute(SimpleNamespace(partition=split, labels=labels), None)
    assert share == pytest.approx((3 / 4 + 2 / 4) / 2)


def test_it_needs_a_split():
    with pytest.raises(UserError, match="give the problem a partition"):
        metric("two_labels").compute(SimpleNamespace(partition=None, labels=np.zeros(3)), None)
