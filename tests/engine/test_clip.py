"""Minibatch gradients whose norm is bounded."""

import numpy as np
import pytest

from fedatlas.errors import UserError
from fedatlas.federation.arrays import to_numpy
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation
from tests.helpers import example, logistic, network, quadratic


def run(algorithm, problem, **options):
    options = {"clients": 5, "local_steps": 3, "rounds": 4, "batch": 2} | options
    return Simulation(algorithm, problem, Setting(**options), 1).run()


@pytest.mark.parametrize("make", [logistic, network])
def test_clip_bounds_the_norm_of_each_clients_minibatch_gradient(make):
    problem, lr = make(), 0.1
    result = {clip: run(example("fedavg", lr=lr), problem, local_steps=1, rounds=1, clip=clip) for clip in (None, 1e-3)}
    x0 = to_numpy(problem.start(1))
    plain, clipped = (np.linalg.norm(to_numpy(item.x) - x0) / lr for item in result.values())
    assert plain > 1e-3 * 1.01
    assert 0 < clipped <= 1e-3 * (1 + 1e-3)
    loose = run(example("fedavg", lr=lr), problem, local_steps=1, rounds=1, clip=1e6)
    np.testing.assert_array_equal(to_numpy(loose.x), to_numpy(result[None].x))


def test_clip_is_for_local_steps():
    with pytest.raises(UserError, match="clip is for local steps"):
        run(example("mb-sgd"), quadratic(), clip=1.0)


def test_clipped_runs_are_not_compiled():
    problem = logistic(heterogeneous=False)
    setting = Setting(clients=5, local_steps=3, rounds=4, batch=1, clip=0.1)
    assert problem.kernel([Simulation(example("fedavg"), problem, setting)]) is None
