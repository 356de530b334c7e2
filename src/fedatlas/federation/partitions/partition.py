"""A partition: the samples of each client. `fedatlas.federation.partitions` creates it."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fedatlas.errors import UserError
from fedatlas.io.files import atomic


@dataclass(frozen=True, eq=False)
class Partition:
    """A split of samples over clients. Client i has ``order[offsets[i]:offsets[i + 1]]``.

    Attributes:
        kind: Name of the kind that split the samples.
        seed: Seed of the split.
        options: Options of the kind.
        clients: Number of clients.
        samples: Number of samples that were split; some kinds leave a few of them unused.
        order: Positions of the samples, client by client, int64 (used,).
        offsets: Where the samples of the clients begin and end in order, int64 (clients + 1,).
    """

    kind: str
    seed: int
    options: dict[str, Any]
    clients: int
    samples: int
    order: np.ndarray
    offsets: np.ndarray

    @property
    def sizes(self) -> np.ndarray:
        """Number of samples of each client, int64 (clients,)."""
        return np.diff(self.offsets)

    def client(self, i: int) -> np.ndarray:
        """Return the positions of client i's samples, int64 (n_i,), a view."""
        if not 0 <= i < self.clients:
            raise UserError(f"there is no client {i}: clients are numbered from 0 to {self.clients - 1}")
        return self.order[self.offsets[i] : self.offsets[i + 1]]

    def histogram(self, y: np.ndarray, classes: int) -> np.ndarray:
        """Return the number of samples of each class at each client, int64 (clients, classes).

        Args:
            y: Labels of the samples, (samples,), in 0..classes-1.
            classes: Number of classes.

        Raises:
            UserError: If there are not as many labels as samples.
        """
        y = np.asarray(y)
        if len(y) != self.samples:
            raise UserError(f"this partition splits {self.samples:,} samples, not the {len(y):,} given")
        owner = np.repeat(np.arange(self.clients), self.sizes)
        return np.bincount(owner * classes + y[self.order], minlength=self.clients * classes).reshape(-1, classes)

    @classmethod
    def of_owners(cls, owner: np.ndarray, like: "Partition") -> "Partition":
        """Return the rows of each client of another part of the data, of which some may have none.

        Args:
            owner: Client of each row, (n,), or -1.
            like: Partition of the training rows.
        """
        order = np.argsort(owner, kind="stable")[np.count_nonzero(owner < 0) :]
        offsets = np.searchsorted(owner[order], np.arange(like.clients + 1))
        return cls(like.kind, like.seed, like.options, like.clients, len(owner), order, offsets)

    def save(self, path: str | Path) -> None:
        """Write an .npz file that ``load`` reads. Raises UserError if it cannot be written."""
        meta = {key: getattr(self, key) for key in ("kind", "seed", "options", "clients", "samples")}
        with atomic(path) as temporary, open(temporary, "wb") as file:
            np.savez(file, meta=np.array(json.dumps(meta, sort_keys=True)), order=self.order, offsets=self.offsets)

    @classmethod
    def load(cls, path: str | Path) -> "Partition":
        """Read a file of ``save``. Raises UserError if it is missing, or is not a partition."""
        try:
            with np.load(path, allow_pickle=False) as content:
                meta = json.loads(str(content["meta"]))
                partition = cls(**meta, order=content["order"], offsets=content["offsets"])
            partition._validate()
            return partition
        except Exception as error:  # NumPy's and zipfile's parsers raise whatever they stumble over
            raise UserError(f"{path} is not a readable partition ({error}): make it again") from error

    def _validate(self) -> None:
        if self.order.dtype.kind + self.offsets.dtype.kind != "ii" or self.order.ndim != 1:
            raise ValueError("it does not hold lists of whole numbers")
        ends = (
            self.offsets.shape == (self.clients + 1,) and self.offsets[0] == 0 and self.offsets[-1] == len(self.order)
        )
        used = np.sort(self.order)
        if not (ends and (np.diff(self.offsets) >= 0).all() and (np.diff(used) > 0).all()):
            raise ValueError("its parts contradict one another")
        if len(used) and not 0 <= used[0] <= used[-1] < self.samples:
            raise ValueError("it names samples that do not exist")
