"""Partitions: how samples are split over clients. A module here that defines a named `Split` is found by itself.

>>> import numpy as np
>>> import fedatlas
>>> labels = np.arange(100) % 10
>>> split = fedatlas.federation.partitions.split({"kind": "classes", "classes": 2}, labels, clients=5)
>>> split.sizes, np.unique(labels[split.client(0)]).size
(array([20, 20, 20, 20, 20]), 2)
"""

import dataclasses
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from fedatlas.errors import UserError
from fedatlas.federation.partitions.partition import Partition
from fedatlas.registry.kinds import Family, Kind
from fedatlas.registry.options import Option, option, validate_values

_CLIENTS = Option("clients", int, dataclasses.MISSING, "number of clients", low=1)
_STREAM = 0x5041_5254


@dataclass(frozen=True, kw_only=True)
class Split(Kind):
    """A kind of partition.

    Attributes:
        splits: Whether samples are split; False where every client has all of them.
        by_owner: Whether samples are split by the clients that the data name, and not by their labels.
        complete: Whether every sample belongs to a client.
    """

    splits: ClassVar[bool] = True
    by_owner: ClassVar[bool] = False
    complete: ClassVar[bool] = False

    seed: int = option(0, doc="seed of the split", low=0)

    @abstractmethod
    def split(self, y: np.ndarray, clients: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Split samples over clients.

        Args:
            y: Labels, whole numbers (n,), or where ``by_owner`` the clients that the data name.
            clients: Number m of clients.
            rng: Generator of all draws.

        Returns:
            The order of the samples, client by client, (used,), and the number of each client's samples, (m,).

        Raises:
            UserError: If the samples are too few.
        """

    def balanced(self, samples: int, clients: int) -> bool:
        """Return whether all clients have equally many samples, whatever the labels."""
        return False


PARTITIONS: Family[Split] = Family("partition", __name__, Split)


def split(spec: Any, y: ArrayLike, clients: int, owner: np.ndarray | None = None) -> Partition | None:
    """Split labelled samples over clients; the same arguments give the same split.

    Args:
        spec: Name of a kind, a mapping with ``kind`` and its options, or null.
        y: Labels, whole numbers (n,).
        clients: Number m of clients.
        owner: Client of each sample in the data, whole numbers (n,), or None if the data name none.

    Returns:
        The partition, or None where every client has all samples.

    Raises:
        UserError: If the kind or an option is unknown, a value is out of range, a client would have no samples, or the
            split is by the clients of the data, which name none.
    """
    if spec is None:
        return None
    kind = PARTITIONS.build(spec)
    if not kind.splits:
        return None
    validate_values(f"partition {kind.name}", {"clients": _CLIENTS}, {"clients": clients})
    y, clients, seed = np.asarray(y), int(clients), int(kind.seed)
    if y.ndim != 1 or y.dtype.kind not in "iu" or not len(y):
        raise UserError(f"labels must be a non-empty vector of integers, not {y.dtype} of shape {y.shape}")
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(_STREAM,))))
    if kind.by_owner and owner is None:
        raise missing_owners(kind.name)
    order, sizes = kind.split(y if owner is None or not kind.by_owner else owner, clients, rng)
    if sizes.min() < 1:
        raise too_few_samples(clients, len(y))
    offsets = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    values = {name: getattr(kind, name) for name in kind.options() if name != "seed"}
    options = {name: value.item() if isinstance(value, np.generic) else value for name, value in values.items()}
    return Partition(kind.name, seed, options, clients, len(y), order.astype(np.int64), offsets)


def is_split(spec: Any) -> bool:
    """Return whether a specification splits the samples. Raises UserError on an unknown kind."""
    if spec is None:
        return False
    kind, _ = PARTITIONS.split(spec)
    return PARTITIONS.get(kind).splits


def is_by_owner(spec: Any) -> bool:
    """Return whether a specification splits the samples by the clients that the data name."""
    if spec is None:
        return False
    kind, _ = PARTITIONS.split(spec)
    return PARTITIONS.get(kind).by_owner


def number_of_clients(spec: Any, clients: int, setting: int | None = None) -> int:
    """Return the number of clients of a partition by the clients of the data.

    Args:
        spec: Specification of the partition.
        clients: Number of clients that the data name, 0 for none.
        setting: Number of clients of the setting, or None.

    Raises:
        UserError: If the data name no clients, or the setting has another number.
    """
    kind, _ = PARTITIONS.split(spec)
    if not clients:
        raise missing_owners(kind)
    if setting is not None and setting != clients:
        raise UserError(
            f"partition {kind}: the data have {clients:,} clients, but the setting {setting}: say clients: {clients}, "
            "or leave clients out"
        )
    return clients


def module(spec: Any) -> str:
    """Return the full name of the module that declares the kind of a specification."""
    return PARTITIONS.module(spec)


def equal_sizes(samples: int, clients: int) -> np.ndarray:
    """Return sizes (clients,) that differ by one at most and use all samples."""
    sizes = np.full(clients, samples // clients)
    sizes[: samples % clients] += 1
    return sizes


def too_few_samples(clients: int, samples: int, least: int = 1) -> UserError:
    """Return the error for samples that are too few to give every client the least number."""
    return UserError(f"{samples:,} samples are too few to give each of {clients:,} clients {least:,}: lower clients")


def missing_owners(kind: str) -> UserError:
    """Return the error for data that name no clients, which a kind of partition needs."""
    return UserError(
        f"partition {kind} needs data that name the client of each row: custom data say client: COLUMN; for other data "
        "take a split by labels, such as dirichlet"
    )
