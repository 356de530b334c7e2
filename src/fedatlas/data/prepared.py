"""Prepared data: ``prepared/<name>/`` contains one .npy file for each array, and ``meta.json``.

``meta.json`` describes the arrays completely, so no result depends on the catalogue.
"""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from fedatlas.data.dataset import CSR, Contents, Dataset
from fedatlas.data.paths import prepared_folder, resolve_directory
from fedatlas.errors import UserError
from fedatlas.io.files import write_json

VERSION = 2  # of the names of the arrays and of meta.json; data of another version are prepared again
_BLOCK = 4096  # rows that are examined at once


@dataclass(frozen=True)
class Meta:
    """The content of ``meta.json``.

    Args:
        arrays: Size in bytes and SHA-256 of each array by its name.
        contents: Numbers of samples and classes, and shape and type of a sample.
        provenance: Origin of the data; see `fedatlas.data.dataset.Dataset`.
    """

    arrays: dict[str, dict[str, Any]]
    contents: Contents
    provenance: dict[str, Any]

    @property
    def lossy(self) -> bool:
        """Return whether the data differ from the official ones."""
        return bool(self.provenance["lossy"])

    @property
    def bytes(self) -> int:
        """Size of all arrays."""
        return sum(array["bytes"] for array in self.arrays.values())

    @property
    def digest(self) -> str:
        """Digest (16 hex digits) of the arrays and of what describes them."""
        text = json.dumps([self.arrays, self.contents.to_json()], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def write(self, folder: Path) -> None:
        """Write ``meta.json`` into a folder."""
        described = {"contents": self.contents.to_json(), "provenance": self.provenance}
        write_json(folder / "meta.json", {"version": VERSION, "arrays": self.arrays} | described)


def load(name: str, directory: str | Path | None = None) -> Dataset:
    """Return a prepared data set.

    Args:
        name: Name of the data set.
        directory: The data directory; see `fedatlas.data.paths.resolve_directory`.

    Raises:
        UserError: If the data set has not been prepared, if its arrays are damaged, or, with the nearest name, if there
            is no such data set.
    """
    folder = prepared_folder(resolve_directory(directory), name)
    meta = read_meta(folder)
    if meta is None:
        from fedatlas.data.sources import info

        info(name)
        raise UserError(
            f"the data set {name!r} is not prepared, or not whole, in {folder}: run 'fedatlas data fetch {name}' first"
        )
    return open_arrays(name, folder, meta)


def read_meta(folder: Path) -> Meta | None:
    """Return the content of ``meta.json``, or None if the folder has no complete prepared form of this version."""
    try:
        values = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
        if values["version"] != VERSION:
            return None
        meta = Meta(values["arrays"], Contents.from_json(values["contents"]), values["provenance"])
        sizes = {name: array["bytes"] for name, array in meta.arrays.items()}
        complete = all((folder / f"{name}.npy").stat().st_size == size for name, size in sizes.items())
        return meta if complete else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def damage(folder: Path, fault: str) -> UserError:
    """Return the error for prepared data that have changed since they were prepared."""
    return UserError(f"the prepared data in {folder} are damaged ({fault}): delete the folder and prepare it again")


def open_arrays(name: str, folder: Path, meta: Meta) -> Dataset:
    """Return the arrays of a prepared folder as a data set.

    Args:
        name: Name of the data set.
        folder: The prepared folder.
        meta: The content of its ``meta.json``.

    Raises:
        UserError: If the arrays are damaged.
    """
    contents = meta.contents

    def array(stem: str) -> np.ndarray:
        # samples are mapped to their file, so they may be larger than memory
        mode: Literal["r"] | None = "r" if stem in ("X", "X_test") else None
        return np.asarray(np.load(folder / f"{stem}.npy", mmap_mode=mode, allow_pickle=False))

    def part(suffix: str, rows: int) -> tuple[Any, Any]:
        if not rows:
            return None, None
        if contents.sparse:
            from scipy.sparse import csr_matrix

            arrays = tuple(array(f"X{suffix}_{part}") for part in CSR)
            X = csr_matrix(arrays, shape=(rows, contents.features))
        else:
            X = array(f"X{suffix}")
        y = array(f"y{suffix}")
        if fault := _find_fault(contents, X, y, rows):
            raise ValueError(fault)
        return X, y

    def owners(stem: str, rows: int) -> np.ndarray | None:
        if stem not in meta.arrays:
            return None
        owner = array(stem)
        if owner.shape != (rows,) or owner.dtype != np.int64 or owner.min() < -1:
            raise ValueError(f"{stem}.npy does not name a client for each row")
        return owner

    try:
        (X, y), (X_test, y_test) = part("", contents.rows), part("_test", contents.test_rows)
        return Dataset(
            name=name,
            X=X,
            y=y,
            X_test=X_test,
            y_test=y_test,
            classes=contents.classes,
            provenance=meta.provenance,
            scale=contents.scale,
            owner=owners("owner", contents.rows),
            owner_test=owners("owner_test", contents.test_rows),
            client_names=array("client_names").tolist() if "client_names" in meta.arrays else None,
        )
    except (OSError, ValueError, TypeError, IndexError) as error:
        raise damage(folder, str(error)) from error


def validate(contents: Contents, dataset: Dataset, folder: Path) -> None:
    """Validate the samples of each class, and that all values are finite and in range.

    Args:
        contents: The promised contents.
        dataset: The arrays.
        folder: Folder of the arrays, for the sentence.

    Raises:
        UserError: At the first fault.
    """
    parts: dict[str, tuple[Any, Any, Any]] = {"training": (dataset.X, dataset.y, contents.counts)}
    if contents.test_rows:
        parts["test"] = (dataset.X_test, dataset.y_test, None)
    for part, (X, y, counts) in parts.items():
        samples, fault = tuple(np.bincount(y, minlength=contents.classes).tolist()), ""
        if not all(samples) or (counts and samples != counts):
            fault = f"the classes have {samples} samples, expected {counts or 'some of each'}"
        values = X.data if contents.sparse else X
        for start in range(0, len(values), _BLOCK):
            block = values[start : start + _BLOCK]
            inside = block <= contents.scale if X.dtype == np.uint8 else np.isfinite(block)
            fault = fault or ("" if inside.all() else "a value is not finite or out of range")
        if fault:
            raise UserError(
                f"{folder}, {part} part: {fault}; fetch the raw files again, or put good copies in their place"
            )


def _find_fault(contents: Contents, X: Any, y: np.ndarray, rows: int) -> str | None:
    """Return what is wrong with the shapes, types, labels or sparse indices of a part, or None.

    Args:
        contents: The promised contents.
        X: Samples, whose values are not examined.
        y: Labels.
        rows: Number of samples.
    """
    shape = (rows, *contents.shape)
    if X.shape != shape or X.dtype != contents.dtype:
        return f"samples are {X.dtype} {X.shape}, expected {contents.dtype} {shape}"
    if y.shape != (rows,) or y.dtype != np.int64:
        return f"labels are {y.dtype} {y.shape}, expected int64 {(rows,)}"
    if not 0 <= y.min() <= y.max() < contents.classes:
        return f"labels are not the {contents.classes} classes from 0 on"
    if contents.sparse and X.nnz and not 0 <= X.indices.min() <= X.indices.max() < contents.features:
        return "the sparse matrix is inconsistent"
    return None
