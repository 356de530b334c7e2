"""Small problems and valid hyper-parameters for tests over the whole registry."""

import contextlib

import numpy as np
import pytest

from fedatlas import UserError
from fedatlas.federation import algorithms
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation
from fedatlas.testing.instances import dirichlet, logistic, network, quadratic, softmax, twin

__all__ = [
    "dirichlet",
    "example",
    "like",
    "logistic",
    "network",
    "quadratic",
    "run",
    "softmax",
    "twin",
    "where_defined",
]


def example(name, **overrides):
    """An algorithm with every required hyper-parameter at 0.1 (eta, an inverse step size, at 20), unless overridden;
    unknown overrides are dropped."""
    fields = algorithms.get(name).options()
    required = {f.name: 20.0 if f.name == "eta" else 0.1 for f in fields.values() if f.required}
    return algorithms.create(name, required | {k: v for k, v in overrides.items() if k in fields})


@contextlib.contextmanager
def where_defined():
    """Skips the test where an algorithm refuses the setting or the problem."""
    try:
        yield
    except UserError as error:
        if "no exact proximal step" in str(error) or "full participation only" in str(error):
            pytest.skip(str(error))
        raise


def like(problem, v):
    """A NumPy array in the library and type of a problem's vectors."""
    start = problem.start(0)
    return np.asarray(v, start.dtype) if isinstance(start, np.ndarray) else start.new_tensor(v)


def run(name, parameters, problem, seed=1, **options):
    """The History of a method of a registered name; by default five clients with full gradients for eight rounds."""
    options = {"clients": 5, "local_steps": 4, "rounds": 8, "batch": None, "eval_rounds": 1} | options
    return Simulation(algorithms.create(name, parameters), problem, Setting(**options), seed).run()
