"""How samples are split over clients."""

import inspect
import json
import os
import uuid
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fedatlas.errors import UserError
from fedatlas.partitions.kinds_ import KINDS, too_many, whole
from fedatlas.registry import did_you_mean, lookup

_STREAM = 0x5041_5254


@dataclass(frozen=True, eq=False)
class Partition:
    """Which samples each client has.

    Client i has ``order[offsets[i]:offsets[i + 1]]``; `order` is int64 (used,), `offsets` int64 (clients + 1,). Both
    are None for the kind ``shared``, where every client has all `samples`.
    """

    kind: str
    seed: int
    options: dict
    clients: int
    samples: int
    order: np.ndarray | None
    offsets: np.ndarray | None

    @property
    def indices(self) -> tuple[np.ndarray | None, np.ndarray | None]:
        """(order, offsets)."""
        return self.order, self.offsets

    @property
    def sizes(self) -> np.ndarray:
        """Samples per client, int64 (clients,)."""
        if self.offsets is None:
            return np.full(self.clients, self.samples, np.int64)
        return np.diff(self.offsets)

    def client(self, i: int) -> np.ndarray:
        """Positions of client i's samples, int64 (n_i,), a view."""
        if not 0 <= i < self.clients:
            raise UserError(f"there is no client {i}: clients are numbered from 0 to {self.clients - 1}")
        if self.order is None:
            return np.arange(self.samples)
        return self.order[self.offsets[i] : self.offsets[i + 1]]

    def histogram(self, y: np.ndarray, classes: int) -> np.ndarray:
        """Samples of each class at each client, int64 (clients, classes); `y` are the labels that were split."""
        y = np.asarray(y)
        if len(y) != self.samples:
            raise UserError(f"this partition splits {self.samples:,} samples, not the {len(y):,} given")
        if self.order is None:
            return np.tile(np.bincount(y, minlength=classes), (self.clients, 1))
        owner = np.repeat(np.arange(self.clients), self.sizes)
        return np.bincount(owner * classes + y[self.order], minlength=self.clients * classes).reshape(-1, classes)

    def save(self, path: str | Path) -> None:
        """Write a .npz that `load` reads; the file appears whole or not at all."""
        path = Path(path)
        temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}.npz")
        meta = {key: getattr(self, key) for key in ("kind", "seed", "options", "clients", "samples")}
        arrays = {} if self.order is None else {"order": self.order, "offsets": self.offsets}
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            np.savez(temporary, meta=np.array(json.dumps(meta, sort_keys=True)), **arrays)
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)

    @classmethod
    def load(cls, path: str | Path) -> "Partition":
        """Read what `save` wrote; UserError if it is not there or not a partition."""
        try:
            with np.load(path, allow_pickle=False) as content:
                meta = json.loads(str(content["meta"]))
                made = cls(**meta, order=content.get("order"), offsets=content.get("offsets"))
            made._check()
            return made
        except Exception as error:  # NumPy's and zipfile's parsers raise whatever they stumble over
            raise UserError(f"{path} is not a readable partition ({error}): make it again") from error

    def _check(self) -> None:
        if self.order is None and self.kind == "shared":
            return
        ends = (
            self.offsets.shape == (self.clients + 1,) and self.offsets[0] == 0 and self.offsets[-1] == len(self.order)
        )
        used = np.sort(self.order)
        if not (ends and (np.diff(self.offsets) >= 0).all() and (np.diff(used) > 0).all()):
            raise ValueError("its parts contradict one another")
        if len(used) and not 0 <= used[0] <= used[-1] < self.samples:
            raise ValueError("it names samples that do not exist")


def partition(kind: str, y: np.ndarray, clients: int, seed: int, **options) -> Partition:
    """Split samples with integer labels `y` (n,) over `clients`; the same arguments give the same split.

    Kinds and their options:

    ``iid``: shuffled, sizes equal but for one sample.
    ``shared``: no split, every client draws from all samples (Yuan and Ma 2020, FedAc), so clients may be any number.
    ``dirichlet(alpha, symmetric=False, per_class=False, min_size=1)``: see `fedatlas.partitions.kinds_.dirichlet`.
    ``classes(classes=2)``: every client has samples of exactly so many classes, see `fedatlas.partitions.kinds_.classes`.

    Raises UserError for an unknown kind or option, a value out of range, or if a client would be left without samples.
    """
    split = lookup("partition", kind, KINDS)
    _, _, _, *known = inspect.signature(split).parameters.values()
    names = [parameter.name for parameter in known]
    for name in options:
        if name not in names:
            raise UserError(f"the partition {kind!r} has no option {name!r}{did_you_mean(name, names)}")
    for parameter in known:
        if parameter.default is parameter.empty and parameter.name not in options:
            raise UserError(f"the partition {kind!r} needs the option {parameter.name!r}")
    options = {parameter.name: options.get(parameter.name, parameter.default) for parameter in known}
    options = {name: value.item() if isinstance(value, np.generic) else value for name, value in options.items()}
    y = np.asarray(y)
    if y.ndim != 1 or y.dtype.kind not in "iu" or not len(y):
        raise UserError(f"labels must be a non-empty vector of integers, not {y.dtype} of shape {y.shape}")
    clients, seed = whole("clients", clients, 1), whole("seed", seed, 0)
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(_STREAM,))))
    parts = split(y, clients, rng, **options)
    order = offsets = None
    if parts is not None:
        order, sizes = parts
        if sizes.min() < 1:
            raise too_many(clients, len(y))
        order, offsets = order.astype(np.int64), np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    return Partition(kind, seed, options, clients, len(y), order, offsets)


def kinds() -> list[str]:
    """The kinds of partition, sorted."""
    return sorted(KINDS)
