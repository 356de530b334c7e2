"""Readers of file formats, and the preparation of data: raw files become arrays on disk.

A module that defines a `Reader` is found by itself: adding one is adding a file. Readers of published files trust their
checksums, which are verified first; readers of custom files check everything. Only this module, the reader and their
imports decide the bytes of the arrays.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from fedatlas.data.catalogue import CustomSource, Form, Source, checksum
from fedatlas.data.dataset import CSR, VERSION, Contents, Dataset, Meta, open_arrays
from fedatlas.errors import UserError
from fedatlas.io.files import write_json
from fedatlas.registry.kinds import Family, Kind

_BLOCK = 4096  # rows that are examined at once


@dataclass(frozen=True, kw_only=True)
class Reader(Kind):
    """Base of all readers. The checksums of published files are verified before a reader is called."""

    @abstractmethod
    def read(self, paths: Sequence[Path], contents: Contents, out: "Writer") -> None:
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


READERS: Family[Reader] = Family("reader", __name__, Reader)


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


def build(source: Source, form: Form, paths: Sequence[Path], folder: Path) -> None:
    """Write the prepared form of a data set into an empty folder, and validate it.

    Args:
        source: The data set.
        form: The form of the source whose files are read.
        paths: Paths of these files.
        folder: The empty folder.

    Raises:
        UserError: If a file cannot be read, or does not contain the rows, features and classes of the source.
    """
    try:
        READERS.build({"kind": form.reader, **form.options}).read(paths, source, Writer(folder))
        arrays = {
            path.stem: {"bytes": path.stat().st_size, "sha256": checksum(path).partition(":")[2]}
            for path in sorted(folder.glob("*.npy"))
        }
        meta = Meta(arrays, source, provenance(source, form, paths))
        described = {"contents": source.to_json(), "provenance": meta.provenance}
        write_json(folder / "meta.json", {"version": VERSION, "arrays": arrays} | described)
        validate(source, open_arrays(source.name, folder, meta))
    except (UserError, MemoryError):
        raise
    except Exception as error:  # parsers raise all kinds of errors on a file of another format
        if isinstance(source, CustomSource) or (isinstance(error, OSError) and error.errno is not None):
            raise  # it is an error of a user's reader, or of the file system
        raise UserError(
            f"{paths[0]}: cannot be read by the reader {form.reader} ({error}); delete the file and fetch it again, or "
            "put a good copy in its place"
        ) from error


def validate(contents: Contents, dataset: Dataset) -> None:
    """Raise ValueError if arrays are not what is promised of them.

    Args:
        contents: The promised contents.
        dataset: The arrays.
    """
    parts: list[Any] = [(dataset.X, dataset.y, dataset.owner, contents.rows)]
    parts += [(dataset.X_test, dataset.y_test, dataset.owner_test, contents.test_rows)] if contents.test_rows else []
    for X, y, owner, rows in parts:
        shape = (rows, *contents.shape)
        if X.shape != shape or X.dtype != contents.dtype:
            raise ValueError(f"samples are {X.dtype} {X.shape}, expected {contents.dtype} {shape}")
        for labels, least in ((y, 0), *([] if owner is None else [(owner, -1)])):
            if labels.shape != (rows,) or labels.dtype != np.int64 or labels.min() < least:
                raise ValueError(f"labels or clients are {labels.dtype} {labels.shape}, expected int64 {(rows,)}")
        values = X.data if contents.sparse else X
        for start in range(0, len(values), _BLOCK):
            if not np.isfinite(values[start : start + _BLOCK]).all():
                raise ValueError("a value is not finite")
        if y.max() >= contents.classes:
            raise ValueError(f"labels are not the {contents.classes} classes from 0 on")
    counts = tuple(np.bincount(dataset.y, minlength=contents.classes).tolist())
    if not all(counts) or (contents.counts and counts != contents.counts):
        raise ValueError(f"the classes have {counts} samples, expected {contents.counts or 'some of each'}")


def provenance(source: Source, form: Form, paths: Sequence[Path]) -> dict[str, Any]:
    """Return the provenance of a data set; arguments are those of `build`."""
    files = [
        {
            "name": path.name,
            "urls": list(file.urls),
            "bytes": path.stat().st_size,
            "sha256": checksum(path).partition(":")[2],
        }
        for path, file in zip(paths, form.files, strict=True)
    ]
    described = {name: getattr(source, name) for name in ("title", "page", "licence", "citation", "bibtex", "note")}
    counts = {name: getattr(source, name) for name in ("features", "classes")}
    sizes = {"rows": source.rows, "test_rows": source.test_rows, "shape": list(source.shape)}
    return described | {"lossy": form.lossy} | sizes | counts | {"files": files}


def draw_test_rows(y: np.ndarray, share: float, seed: np.random.SeedSequence) -> np.ndarray:
    """Return whether each row tests, (n,): a share of the rows of each class, rounded, drawn with a seed.

    Of two rows of a class or more, at least one tests and one trains. Classes ``y`` (n,) are whole numbers from 0 on.
    """
    test, rng = np.zeros(len(y), bool), np.random.Generator(np.random.PCG64(seed))
    for label in range(int(y.max()) + 1 if share else 0):
        rows = rng.permutation(np.flatnonzero(y == label))
        test[rows[: min(max(1, round(share * len(rows))), len(rows) - 1)]] = True
    return test
