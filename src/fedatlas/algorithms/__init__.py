"""The algorithms. A module here that defines a named ``Algorithm`` is found by itself: adding one is adding a file."""

import functools
import importlib
import pkgutil

import numpy as np

from fedatlas.algorithms.base import Algorithm, param
from fedatlas.arrays import State
from fedatlas.registry import construct, lookup

__all__ = ["Algorithm", "State", "create", "get", "memory", "names", "param"]


@functools.cache
def _known():
    found = {}
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda m: m.name):
        loaded = importlib.import_module(f"{__name__}.{module.name}")
        for value in vars(loaded).values():
            if isinstance(value, type) and issubclass(value, Algorithm) and "name" in vars(value):
                if found.setdefault(value.name, value) is not value:
                    raise TypeError(f"two algorithms are called {value.name!r}: {found[value.name]} and {value}")
    return found


def names():
    """Names of all algorithms, sorted."""
    return sorted(_known())


def get(name):
    """The class called name. Raises UserError, with a guess, if there is none."""
    return lookup("algorithm", name, _known())


def create(name, parameters):
    """An algorithm from its name and hyper-parameters. Raises UserError on unknown, missing or out-of-range ones."""
    return construct(f"algorithm {name}", get(name), parameters)


def memory(algorithm):
    """Vectors of the model's size that a client keeps from round to round, counted in what ``init`` gives it."""
    x0 = np.zeros(3)
    return sum(getattr(value, "shape", None) == x0.shape for _, value in algorithm.init(x0)[1].items())
