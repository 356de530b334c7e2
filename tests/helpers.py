"""Small problems and valid hyper-parameters for tests over the whole registry."""

import dataclasses

import numpy as np

from fedatlas import algorithms
from fedatlas.data import partition
from fedatlas.problems.logistic import Logistic


def example(name, **overrides):
    """An algorithm with every required hyper-parameter at 0.1, unless overridden; unknown overrides are dropped."""
    fields = algorithms.get(name).parameters()
    required = {f.name: 0.1 for f in fields.values() if f.default is dataclasses.MISSING}
    return algorithms.create(name, required | {k: v for k, v in overrides.items() if k in fields})


def logistic(clients=5, samples=60, dim=7, l2=0.1, seed=0, heterogeneous=True):
    """Logistic regression, split over clients by label where heterogeneous, else shared by all."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((samples, dim))
    b = (A @ rng.standard_normal(dim) + 0.5 * rng.standard_normal(samples) > 0).astype(int)
    split = partition("dirichlet", b, clients, seed, alpha=1.0) if heterogeneous else None
    return Logistic(A, b, l2, split)
