"""NumPy and torch are one engine: the same trajectory, to rounding, for every algorithm."""

import numpy as np
import pytest

from fedatlas import algorithms
from fedatlas.simulation.engine import Simulation
from fedatlas.simulation.setting import Setting
from tests.helpers import example, logistic, softmax, twin, where_defined

SETTINGS = {
    "everybody": {"batch": 3},
    "some, or nobody": {"batch": 2, "participation": {"kind": "bernoulli", "p": 0.3}},
    "full gradients": {"batch": None, "participation": {"kind": "uniform", "count": 3}},
}
PAIRS = {"logistic": logistic, "cross-entropy": lambda: softmax(start_scale=1.0)}


@pytest.fixture(scope="module", params=PAIRS)
def pair(request):
    ours = PAIRS[request.param]()
    return ours, twin(ours, request.param)


@pytest.mark.parametrize("options", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize("name", algorithms.names())
def test_twins_walk_together(name, options, pair):
    algorithm = example(name, lr=0.05, max_steps=5).for_problem(pair[0])
    setting = Setting(**{"clients": 5, "local_steps": 3, "rounds": 6, "eval_rounds": 1} | options)
    with where_defined():
        ours, theirs = (Simulation(algorithm, problem, setting, seed=4).run() for problem in pair)
    assert ours.status == theirs.status == "ok"
    assert np.linalg.norm(ours.x - pair[0].start(4)) > 1e-3
    np.testing.assert_allclose(ours.x, theirs.x.numpy(), rtol=1e-12, atol=1e-12)
    for one, other in zip(ours.rows, theirs.rows, strict=True):
        same = {key: one[key] for key in one if key != "seconds"}
        assert {key: other[key] for key in same} == pytest.approx(same, rel=1e-12, abs=1e-12)
