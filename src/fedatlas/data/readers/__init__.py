"""Readers of file formats. A module that defines a `Reader` is found by itself: adding one is adding a file.

Readers of published files trust their checksums, which are verified first; readers of custom files check everything.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from fedatlas.data.dataset import CSR, Contents
from fedatlas.registry.kinds import Family, Kind


class Writer:
    """Writes the arrays of a reader into a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def create(self, name: str, shape: tuple[int, ...], dtype: DTypeLike) -> np.ndarray:
        """Return a dense array for the reader to fill. It is mapped to its file, so it may be larger than memory."""
        return np.lib.format.open_memmap(self.folder / f"{name}.npy", "w+", np.dtype(dtype), shape)

    def save(self, name: str, value: Any) -> None:
        """Write a dense array into one file, or a CSR matrix into three."""
        if isinstance(value, np.ndarray):
            np.save(self.folder / f"{name}.npy", np.ascontiguousarray(value))
            return
        for part in CSR:
            array = getattr(value, part)
            np.save(self.folder / f"{name}_{part}.npy", array if part == "data" else array.astype(np.int32))


@dataclass(frozen=True, kw_only=True)
class Reader(Kind):
    """Base of all readers. The checksums of published files are verified before a reader is called."""

    @abstractmethod
    def read(self, paths: Sequence[Path], contents: Contents, out: Writer) -> None:
        """Read raw files and write their arrays.

        The arrays are the samples ``X`` and the labels ``y``, int64, and ``X_test`` and ``y_test`` if there is a test
        part. If the data name clients, ``owner`` is the client of each training row, int64 from 0 on.

        Args:
            paths: Paths of the form's files, in its order.
            contents: The expected contents.
            out: Writer of the arrays.

        Raises:
            UserError: If a file cannot be read; it names the file and, for text, the line.
        """


def draw_test_rows(y: np.ndarray, share: float, seed: np.random.SeedSequence) -> np.ndarray:
    """Return whether each row tests, (n,): a share of the rows of each class, rounded, drawn with a seed.

    Of two rows of a class or more, at least one tests and one trains. Classes ``y`` (n,) are whole numbers from 0 on.
    """
    test, rng = np.zeros(len(y), bool), np.random.Generator(np.random.PCG64(seed))
    for label in range(int(y.max()) + 1 if share else 0):
        rows = rng.permutation(np.flatnonzero(y == label))
        test[rows[: min(max(1, round(share * len(rows))), len(rows) - 1)]] = True
    return test


READERS: Family[Reader] = Family("reader", __name__, Reader)
