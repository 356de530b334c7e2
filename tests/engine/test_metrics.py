"""Metrics that a setting names besides those that the problem reports."""

import numpy as np
import pytest

from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation
from fedatlas.federation.metrics import METRICS, Metric
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
