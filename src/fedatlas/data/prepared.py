"""Prepared data: ``prepared/<name>/`` contains one .npy file for each array, and ``meta.json``.

``meta.json`` describes the arrays completely, so no result depends on the catalogue.
"""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fedatlas.data.dataset import CSR, Contents, Dataset
from fedatlas.data.errors import prepared_data_error
from fedatlas.data.paths import prepared_folder, resolve_directory
from fedatlas.data.validation import find_fault
from fedatlas.errors import UserError
from fedatlas.io import npz

VERSION = 2  # of the names of the arrays and of meta.json; data of another version are prepared again

# The form of meta.json: types, [form] for lists, and mappings by key.
ARRAY = {"bytes": int, "sha256": str}
FILE = {"name": str, "urls": [str], "origin": str} | ARRAY
TEXTS = ("title", "page", "licence", "citation", "bibtex", "note", "lossy")
COUNTS = ("rows", "test_rows", "features", "classes")
PROVENANCE: dict[str, Any] = dict.fromkeys(TEXTS, str) | dict.fromkeys(COUNTS, int)
PROVENANCE |= {"shape": [int], "files": [FILE]}


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
        values = {
            "version": VERSION,
            "arrays": self.arrays,
            "contents": self.contents.to_json(),
            "provenance": self.provenance,
        }
        text = json.dumps(values, indent=1, ensure_ascii=False) + "\n"
        (folder / "meta.json").write_text(text, encoding="utf-8")


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


def load_owners(name: str, directory: str | Path | None = None, test: bool = False) -> np.ndarray | None:
    """Return the client of each training row of prepared data, or of each test row.

    Args:
        name: Name of the data set.
        directory: The data directory.
        test: Whether the rows are those of the test part.

    Returns:
        Numbers of clients, int64 (n,) from 0 on, or None if the data name no clients. It is -1 for a test row whose
        client has no training rows.

    Raises:
        UserError: If the array is damaged.
    """
    folder = prepared_folder(resolve_directory(directory), name)
    meta, stem = read_meta(folder), "owner_test" if test else "owner"
    if meta is None or stem not in meta.arrays:
        return None
    rows, low = (meta.contents.test_rows, -1) if test else (meta.contents.rows, 0)
    try:
        npz.validate_array(folder / f"{stem}.npy")
        owner = np.load(folder / f"{stem}.npy", allow_pickle=False)
        if owner.shape != (rows,) or owner.dtype != np.int64 or owner.min() < low:
            raise ValueError(f"{stem}.npy does not name a client for each row")
        if not test and not np.bincount(owner).all():
            raise ValueError(f"{stem}.npy leaves out a number of a client")
    except (OSError, ValueError) as error:
        raise prepared_data_error(folder, str(error)) from error
    return owner


def load_client_names(name: str, directory: str | Path | None = None) -> list[str] | None:
    """Return the names of the clients of prepared data, in the order of their numbers, or None if they have none.

    Args:
        name: Name of the data set.
        directory: The data directory.

    Raises:
        UserError: If the array is damaged.
    """
    folder = prepared_folder(resolve_directory(directory), name)
    meta = read_meta(folder)
    if meta is None or "client_names" not in meta.arrays:
        return None
    try:
        npz.validate_array(folder / "client_names.npy")
        names: list[str] = np.load(folder / "client_names.npy", allow_pickle=False).astype(str).tolist()
    except (OSError, ValueError) as error:
        raise prepared_data_error(folder, str(error)) from error
    return names


def read_meta(folder: Path) -> Meta | None:
    """Return the content of ``meta.json``, or None if the folder has no complete prepared form of this version."""
    try:
        values = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
        if values["version"] != VERSION:
            return None
        _check_form(values["arrays"], dict.fromkeys(values["arrays"], ARRAY))
        _check_form(values["provenance"], PROVENANCE)
        meta = Meta(values["arrays"], Contents.from_json(values["contents"]), values["provenance"])
        sizes = {name: array["bytes"] for name, array in meta.arrays.items()}
        complete = all((folder / f"{name}.npy").stat().st_size == size for name, size in sizes.items())
        return meta if complete else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


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

    def array(stem: str, mapped: bool = False) -> np.ndarray:
        npz.validate_array(folder / f"{stem}.npy")
        return np.load(folder / f"{stem}.npy", mmap_mode="r" if mapped else None, allow_pickle=False)

    def samples(stem: str, rows: int) -> Any:
        if not rows:
            return None
        if not contents.sparse:
            return np.asarray(array(stem, mapped=True))
        from scipy.sparse import csr_matrix

        data, indices, indptr = (array(f"{stem}_{part}") for part in CSR)
        if indices.dtype.kind + indptr.dtype.kind != "ii" or len(indptr) != rows + 1:
            raise ValueError("the sparse matrix is inconsistent")
        return csr_matrix((data, indices, indptr), shape=(rows, contents.features))

    def check(X: Any, y: Any, rows: int) -> None:
        if fault := find_fault(contents, X, y, rows):
            raise ValueError(fault)

    try:
        dataset = Dataset(
            name=name,
            X=samples("X", contents.rows),
            y=array("y"),
            X_test=samples("X_test", contents.test_rows),
            y_test=array("y_test") if contents.test_rows else None,
            classes=contents.classes,
            lossy=meta.lossy,
            provenance=meta.provenance,
            scale=contents.scale,
        )
        check(dataset.X, dataset.y, contents.rows)
        if contents.test_rows:
            check(dataset.X_test, dataset.y_test, contents.test_rows)
        return dataset
    except (OSError, ValueError, TypeError, IndexError) as error:
        raise prepared_data_error(folder, str(error)) from error


def _check_form(value: Any, form: Any) -> None:
    """Raise ValueError if a JSON value does not have a form, or is text that no file can contain."""
    match form:
        case dict() if isinstance(value, dict) and value.keys() == form.keys():
            for key, item in value.items():
                _check_form(item, form[key])
        case [item_form] if isinstance(value, list):
            for item in value:
                _check_form(item, item_form)
        case type() if type(value) is form:
            str(value).encode()
        case _:
            raise ValueError(f"{value!r} is not of the form {form}")
