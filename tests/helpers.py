"""Small problems and valid hyper-parameters for tests over the whole registry."""

import contextlib

import numpy as np
import pytest

from fedatlas import UserError
from fedatlas.experiments import fingerprint
from fedatlas.federation.algorithms import ALGORITHMS
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation
from fedatlas.testing.instances import dirichlet, logistic, network, quadratic, softmax, twin, unequal_shares

__all__ = [
    "dirichlet",
    "each_algorithm",
    "example",
    "forget_code",
    "like",
    "logistic",
    "network",
    "quadratic",
    "run",
    "softmax",
    "twin",
    "unequal_shares",
    "where_defined",
]


def forget_code():
    """Forget what this process knows of code, so that it reads it as a new process does."""
    for function in vars(fingerprint).values():
        if hasattr(function, "cache_clear"):
            function.cache_clear()


def example(name, **overrides):
    """Create an algorithm whose required hyper-parameters are 0.1, and eta, an inverse step size, 20.

    Overrides that the algorithm does not have are ignored.
    """
    options = ALGORITHMS.get(name).options()
    required = {key: 20.0 if key == "eta" else 0.1 for key, option in options.items() if option.required}
    required |= {"head": 2} if "head" in options else {}  # the numbers of FedRep's head, which only networks have
    return ALGORITHMS.create(name, required | {key: value for key, value in overrides.items() if key in options})


def each_algorithm(names=None):
    """Return names of algorithms, by default all, as parameters of a test of the engine.

    Of those that share a module, and so most of their hooks, all but the first are left to ``make slow``.
    """
    first = {ALGORITHMS.get(name).__module__: name for name in reversed(ALGORITHMS.names())}
    return [
        name if name in first.values() else pytest.param(name, marks=pytest.mark.slow)
        for name in names or ALGORITHMS.names()
    ]


@contextlib.contextmanager
def where_defined():
    """Skip the test if an algorithm refuses the setting or the problem."""
    try:
        yield
    except UserError as error:
        reasons = ("no exact proximal step", "full participation only", "Hessians of all data", "has no 'head'")
        if any(reason in str(error) for reason in reasons):
            pytest.skip(str(error))
        raise


def like(problem, v):
    """Convert a NumPy array to the library and dtype of a problem's vectors."""
    start = problem.start(0)
    return np.asarray(v, start.dtype) if isinstance(start, np.ndarray) else start.new_tensor(v)


def run(name, parameters, problem, seed=1, **options):
    """Return the History of an algorithm; by default five clients with full gradients for eight rounds."""
    options = {"clients": 5, "local_steps": 4, "rounds": 8, "batch": None, "eval_rounds": 1} | options
    return Simulation(ALGORITHMS.create(name, parameters), problem, Setting(**options), seed).run()
