"""Data sets: their samples in memory, the description of what they contain, and the prepared form on disk.

In the data directory, ``prepared/<name>/`` contains one .npy file for each array, and ``meta.json``, which describes
the arrays completely, so no result depends on the catalogue.
"""

import hashlib
import json
from dataclasses import dataclass, fields
from math import prod
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import DTypeLike

from fedatlas.data.paths import prepared_folder, resolve_directory
from fedatlas.errors import UserError, did_you_mean

DTYPES = ("uint8", "float32", "float64")
VERSION = 2  # of the names of the arrays and of meta.json; data of another version are prepared again
CSR = ("data", "indices", "indptr")  # the three arrays of a CSR matrix


@dataclass(frozen=True, kw_only=True)
class Contents:
    """The numbers of samples and classes of a data set, and the shape and type of a sample.

    Args:
        classes: Number of labels.
        rows: Number of training samples.
        shape: Shape of one sample, (features,) or (channels, height, width).
        test_rows: Number of test samples, 0 if there is no test part.
        dtype: Type of the samples, one of DTYPES.
        sparse: Whether the samples are a SciPy CSR matrix.
        scale: Largest raw value of an image; features are X / scale.
        counts: Number of training samples of each class, None if unknown.
    """

    classes: int
    rows: int
    shape: tuple[int, ...]
    test_rows: int = 0
    dtype: str = "uint8"
    sparse: bool = False
    scale: float = 1.0
    counts: tuple[int, ...] | None = None

    @property
    def features(self) -> int:
        """Number of features of a sample."""
        return prod(self.shape)

    def to_json(self) -> dict[str, Any]:
        """Return the contents as JSON types."""
        values = {field.name: getattr(self, field.name) for field in fields(Contents)}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Self:
        """Return the contents that `to_json` gave. Raises TypeError if a value has another name."""
        plain: dict[str, Any] = {k: tuple(value) if isinstance(value, list) else value for k, value in values.items()}
        return cls(**plain)


@dataclass(frozen=True, eq=False)
class Dataset:
    """Samples and labels.

    Args:
        name: Name of the data set.
        X: Training samples: a SciPy CSR matrix (n, features) of float64, a dense array (n, features), or uint8 images
            (n, channels, height, width) with pixels 0..scale. Dense samples are read-only and mapped from disk.
        y: Labels (n,), int64 in 0..classes-1; of two classes, 1 is the positive one.
        X_test: Test samples, None if there is no test part.
        y_test: Labels of the test samples.
        classes: Number of labels.
        provenance: Checksum, licence and citation of every file, and ``lossy``, what differs from the official ones.
        scale: Largest raw value of an image.
        X_validation: Training samples that a problem holds out, None if it holds out none.
        y_validation: Labels of the validation samples.
        owner: Client of each training row, int64 from 0 on, None if the data name no clients.
        owner_test: Client of each test row; -1 of one without training rows.
        client_names: Names of the clients in the order of their numbers, None if they have none.
    """

    name: str
    X: Any
    y: np.ndarray
    X_test: Any
    y_test: np.ndarray | None
    classes: int
    provenance: dict[str, Any]
    scale: float = 1.0
    X_validation: Any = None
    y_validation: np.ndarray | None = None
    owner: np.ndarray | None = None
    owner_test: np.ndarray | None = None
    client_names: list[str] | None = None

    def features(self, split: str = "train", dtype: DTypeLike = np.float64) -> Any:
        """Return the features of a part.

        Args:
            split: Name of the part, ``train``, ``test`` or ``validation``.
            dtype: Type to which the part is converted at once.

        Returns:
            A dense array (n, d), or a CSR matrix if the samples are one. Images are flattened and divided by ``scale``,
            so that they lie in [0, 1].

        Raises:
            UserError: If the data set has no such part.
        """
        parts = {"train": self.X, "test": self.X_test, "validation": self.X_validation}
        if split not in parts:
            raise UserError(f"unknown split {split!r}{did_you_mean(split, parts)}")
        X = parts[split]
        if X is None:
            raise UserError(f"the data set {self.name!r} has no {split} part: use the split 'train'")
        if not isinstance(X, np.ndarray):
            return X.astype(dtype, copy=False)
        flat = X.reshape(len(X), -1)
        if X.dtype != np.uint8:
            return flat.astype(dtype, copy=False)
        return np.divide(flat, self.scale, dtype=dtype)


@dataclass(frozen=True)
class Meta:
    """The content of ``meta.json``.

    Args:
        arrays: Size in bytes and SHA-256 of each array by its name.
        contents: Numbers of samples and classes, and shape and type of a sample.
        provenance: Origin of the data; see `Dataset`.
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


def load_prepared(name: str, directory: str | Path | None = None) -> Dataset:
    """Return a prepared data set.

    Args:
        name: Name of the data set.
        directory: The data directory; see `fedatlas.data.paths.resolve_directory`.

    Raises:
        UserError: If the data set has not been prepared, or if its arrays are damaged.
    """
    folder = prepared_folder(resolve_directory(directory), name)
    if (meta := read_prepared(folder)) is None:
        raise UserError(
            f"the data set {name!r} is not prepared, or not whole, in {folder}: run 'fedatlas data fetch {name}' first"
        )
    try:
        return open_arrays(name, folder, meta)
    except (OSError, ValueError) as error:
        raise UserError(f"the prepared data in {folder} are damaged ({error}): delete the folder") from error


def read_prepared(folder: Path) -> Meta | None:
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
