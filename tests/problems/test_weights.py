"""Clients of unequal sizes whose plain mean is the objective over all samples (FedRed, Section 5)."""

import numpy as np
import pytest

from fedatlas.errors import UserError
from fedatlas.federation import partitions
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation
from fedatlas.federation.problems.logistic import Logistic
from fedatlas.federation.problems.softmax import Softmax
from tests.helpers import example

RNG = np.random.default_rng(0)
A, Y = RNG.standard_normal((61, 6)), RNG.integers(2, size=61)
SPLIT = partitions.split({"kind": "dirichlet", "alpha": 0.5, "per_class": True}, Y, 4)
MAKE = {
    "logistic": lambda **options: Logistic(A, Y, partition=SPLIT, **options),
    "softmax": lambda **options: Softmax(A, Y, 2, partition=SPLIT, **options),
}


@pytest.mark.parametrize("make", MAKE.values(), ids=MAKE)
def test_mean_over_clients_is_the_pooled_objective(make):
    assert len(set(SPLIT.sizes)) > 1
    problem = make(l2=0.1, weights="size")
    x = 0.3 * RNG.standard_normal(problem.dim)
    values, grads = problem.full_batch(np.arange(4)).value_and_grad(x)
    assert values.mean() == pytest.approx(problem.value(x))
    np.testing.assert_allclose(grads.mean(axis=0), problem.gradient(x), atol=1e-14)
    plain = make(l2=0.1).full_batch(np.arange(4)).grad(x).mean(axis=0)
    assert np.abs(plain - problem.gradient(x)).max() > 1e-3


@pytest.mark.parametrize("name", ["gd", "scaffold"])
@pytest.mark.parametrize("make", MAKE.values(), ids=MAKE)
def test_pooled_optimum_is_the_fixed_point_of_exact_methods(make, name):
    problem = make(l2=0.1, weights="size")
    problem.optimum = problem.solve()
    setting = Setting(clients=4, local_steps=2, rounds=400, batch=None)
    trace = Simulation(example(name, lr=0.5), problem, setting).run()
    assert abs(trace.rows[-1]["suboptimality"]) < 1e-12


def test_one_over_n():
    assert MAKE["logistic"](l2="1/n").l2 == MAKE["softmax"](l2="1/n").l2 == 1 / 61


@pytest.mark.parametrize("options", [{"l2": "1/m"}, {"weights": "rows"}])
def test_refuses(options):
    for make in MAKE.values():
        with pytest.raises(UserError, match=next(iter(options))):
            make(**options)
