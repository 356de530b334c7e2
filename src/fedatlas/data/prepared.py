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

VERSION = 2  # of the names of the arrays and of meta.json; data of another version are prepared again


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


def load(name: str, directory: str | Path | None = None) -> Dataset:
    """Return a prepared data set.

    Args:
        name: Name of the data set.
        directory: The data directory; see `fedatlas.data.paths.resolve_directory`.

    Raises:
        UserError: If the data set has not been prepared, or if its arrays are damaged.
    """
    folder = prepared_folder(resolve_directory(directory), name)
    if (meta := read_meta(folder)) is None:
        raise UserError(
            f"the data set {name!r} is not prepared, or not whole, in {folder}: run 'fedatlas data fetch {name}' first"
        )
    try:
        return open_arrays(name, folder, meta)
    except (OSError, ValueError) as error:
        raise UserError(f"the prepared data in {folder} are damaged ({error}): delete the folder") from error


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


def open_arrays(name: str, folder: Path, meta: Meta) -> Dataset:
    """Return the arrays of a prepared folder as a data set. Raises OSError or ValueError if they are damaged.

    Args:
        name: Name of the data set.
        folder: The prepared folder.
        meta: The content of its ``meta.json``.
    """
    contents = meta.contents

    def array(stem: str) -> Any:
        # samples are mapped to their file, so they may be larger than memory
        mode: Literal["r"] | None = "r" if stem in ("X", "X_test") else None
        return np.asarray(np.load(folder / f"{stem}.npy", mode)) if stem in meta.arrays else None

    def samples(stem: str, rows: int) -> Any:
        if not contents.sparse or not rows:
            return array(stem)
        from scipy.sparse import csr_matrix

        X = csr_matrix(tuple(array(f"{stem}_{part}") for part in CSR), shape=(rows, contents.features))
        X.check_format(full_check=True)
        return X

    client_names = array("client_names")
    return Dataset(
        name=name,
        X=samples("X", contents.rows),
        y=array("y"),
        X_test=samples("X_test", contents.test_rows),
        y_test=array("y_test"),
        classes=contents.classes,
        provenance=meta.provenance,
        scale=contents.scale,
        owner=array("owner"),
        owner_test=array("owner_test"),
        client_names=None if client_names is None else client_names.tolist(),
    )
