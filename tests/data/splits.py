"""Splits that several tests make."""

import numpy as np

from fedatlas.federation.partitions import split

BALANCED = np.repeat(np.arange(10), 600)
SPLITS = [
    ("iid", {}),
    ("dirichlet", {"alpha": 0.3}),
    ("dirichlet", {"alpha": 1e-3}),
    ("dirichlet", {"alpha": 0.1, "symmetric": True}),
    ("dirichlet", {"alpha": 0.5, "per_class": True}),
    ("classes", {"classes": 2}),
]


def partition(kind, y, clients, seed=0, **options):
    """A split by a kind and its options."""
    return split({"kind": kind, "seed": seed, **options}, y, clients)
