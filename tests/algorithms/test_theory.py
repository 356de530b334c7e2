"""Reductions between algorithms, acceleration, and biases of those that are not exact."""

import numpy as np
import pytest

from fedatlas.federation import algorithms, problems
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation
from fedatlas.testing.instances import unequal_clients
from tests.helpers import example, logistic


def run(algorithm, problem, **options):
    options = {"clients": 5, "local_steps": 4, "rounds": 8, "batch": 2} | options
    return Simulation(algorithm, problem, Setting(**options), seed=1).run().x


@pytest.mark.parametrize(
    "special, general, options",
    [
        (("fedavg", {}), ("fedprox", {"nu": 0.0}), {}),
        (("fedavg", {}), ("fedprox", {"nu": 0.0}), {"participation": {"kind": "uniform", "count": 2}}),
        (("fedavg", {"server_lr": 0.7}), ("fedavgm", {"server_lr": 0.7, "beta": 0.0}), {}),
        (("fedavg", {}), ("fedawe", {}), {}),
        (("fedavg", {"server_lr": 0.7}), ("fedawe", {"server_lr": 0.7}), {}),
        (("gd", {}), ("fedavg", {}), {"batch": None, "local_steps": 1}),
        (("mb-sgd", {}), ("fedavg", {}), {"local_steps": 1}),
        (("mb-ac-sgd", {}), ("fedac-1", {}), {"local_steps": 1}),
        (("fedac-vanilla", {}), ("fedac-1", {}), {"local_steps": 1}),
        (("fedavg", {}), ("scaffold", {"option": 2}), {"rounds": 1}),
        (("gd", {}), ("mb-sgd", {}), {"batch": None}),
    ],
)
def test_reductions(special, general, options):
    problem = logistic()
    first, second = (run(example(name, **parameters), problem, **options) for name, parameters in (special, general))
    np.testing.assert_allclose(first, second, rtol=1e-10, atol=1e-12)


def test_fedac_variants_differ():
    problem = logistic()
    outputs = [run(example(name), problem) for name in ("fedac-1", "fedac-2", "fedac-vanilla", "fedavg")]
    for i, a in enumerate(outputs):
        for b in outputs[:i]:
            assert np.linalg.norm(a - b) > 1e-6


@pytest.mark.parametrize("name", ["fedavg", "fedprox", "fedac-1"])
def test_local_steps_without_correction_miss_the_optimum_of_heterogeneous_clients(name):
    problem = unequal_clients()
    x = run(example(name, lr=0.3), problem, batch=None, rounds=600)
    assert problem.value(x) - problem.optimum.F > 1e-5


def test_acceleration_is_faster_than_gradient_descent():
    problem = logistic(heterogeneous=False, l2=1e-3)
    problem.optimum = problem.solve()
    gaps = {}
    for name in ("gd", "mb-ac-sgd", "fedac-1"):
        x = run(example(name, lr=1 / problem.smoothness), problem, batch=None, local_steps=1, rounds=300, clients=1)
        gaps[name] = problem.value(x) - problem.optimum.F
    assert gaps["mb-ac-sgd"] < gaps["gd"] / 100
    assert gaps["fedac-1"] == pytest.approx(gaps["mb-ac-sgd"], rel=1e-6, abs=1e-15)


def test_fedavg_is_biased_under_unequal_availability_and_fedawe_less():
    problem = problems.create({"kind": "quadratic", "centers": [[0.0], [100.0]]}, 2)
    options = {"clients": 2, "local_steps": 1, "batch": None, "rounds": 1000}
    options["participation"] = {"kind": "bernoulli", "p": [0.9, 0.1]}
    seeds = range(5)

    def mean_output(name):
        algorithm = algorithms.create(name, {"lr": 0.01})
        return np.mean([Simulation(algorithm, problem, Setting(**options), seed=s).run().x for s in seeds])

    # a step goes towards 0, 100 or 50 with probability p1 (1 - p2), (1 - p1) p2 or p1 p2; at the mean they balance
    expected = (0.1 * 0.1 * 100 + 0.9 * 0.1 * 50) / (0.9 * 0.9 + 0.1 * 0.1 + 0.9 * 0.1)
    fedavg, fedawe = mean_output("fedavg"), mean_output("fedawe")
    assert fedavg == pytest.approx(expected, abs=3)
    assert abs(fedawe - 50) < abs(fedavg - 50) / 2
