"""How samples are split over clients. A module here that defines a `Split` is found by itself: adding one is adding a
file.

>>> import numpy as np
>>> import fedatlas
>>> labels = np.arange(100) % 10
>>> split = fedatlas.federation.partitions.split({"kind": "classes", "classes": 2}, labels, clients=5)
>>> split.sizes, np.unique(labels[split.client(0)]).size
(array([20, 20, 20, 20, 20]), 2)
"""

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fedatlas.errors import UserError
from fedatlas.federation.partitions.base import Split, missing_owners, too_few_samples
from fedatlas.federation.partitions.partition import Partition
from fedatlas.registry.kinds import Family
from fedatlas.registry.options import Option, validate_values

PARTITIONS: Family[Split] = Family("partition", __name__, Split)

_CLIENTS = Option("clients", int, dataclasses.MISSING, "number of clients", low=1)
_STREAM = 0x5041_5254


def split(spec: Any, y: ArrayLike, clients: int, owner: np.ndarray | None = None) -> Partition | None:
    """Split labelled samples over clients; the same arguments give the same split.

    spec: the name of a kind, a mapping with ``kind`` and its options, or null. y: whole numbers (n,), the labels.
    clients: m. owner: whole numbers (n,), the clients that the data name, or None. Returns None where every client has
    all samples. Raises UserError on an unknown kind or option, on a value out of range, if a client would be left
    without samples, and if the split is by clients and the data name none.
    """
    if spec is None:
        return None
    made = PARTITIONS.build(spec)
    if not made.splits:
        return None
    validate_values(f"partition {made.name}", {"clients": _CLIENTS}, {"clients": clients})
    y, clients, seed = np.asarray(y), int(clients), int(made.seed)
    if y.ndim != 1 or y.dtype.kind not in "iu" or not len(y):
        raise UserError(f"labels must be a non-empty vector of integers, not {y.dtype} of shape {y.shape}")
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(_STREAM,))))
    if made.by_owner and owner is None:
        raise missing_owners(made.name)
    order, sizes = made.split(y if owner is None or not made.by_owner else owner, clients, rng)
    if sizes.min() < 1:
        raise too_few_samples(clients, len(y))
    offsets = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    return Partition(made.name, seed, _given(made), clients, len(y), order.astype(np.int64), offsets)


def is_split(spec: Any) -> bool:
    """Whether a specification splits the samples. Raises UserError on an unknown kind."""
    if spec is None:
        return False
    kind, _ = PARTITIONS.split(spec)
    return PARTITIONS.get(kind).splits


def is_by_owner(spec: Any) -> bool:
    """Whether a specification splits the samples by the clients that the data name."""
    if spec is None:
        return False
    kind, _ = PARTITIONS.split(spec)
    return PARTITIONS.get(kind).by_owner


def number_of_clients(spec: Any, clients: int, given: Any = None) -> int:
    """The number of clients that a partition by the clients of the data has.

    spec: of the partition. clients: that the data name, 0 for none. given: the number that a setting has, or None.
    Raises UserError if the data name none, or the setting has another number.
    """
    kind, _ = PARTITIONS.split(spec)
    if not clients:
        raise missing_owners(kind)
    if given is not None and given != clients:
        raise UserError(
            f"partition {kind}: the data have {clients:,} clients, but the setting {given}: say clients: {clients}, or "
            "leave clients out"
        )
    return clients


def module(spec: Any) -> str:
    """Full name of the module that declares the kind of a specification."""
    return PARTITIONS.module(spec)


def _given(made: Split) -> dict[str, Any]:
    """The options of a kind but for the seed, as JSON types."""
    values = {name: getattr(made, name) for name in made.options() if name != "seed"}
    return {name: value.item() if isinstance(value, np.generic) else value for name, value in values.items()}
