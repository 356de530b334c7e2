"""Prepared data: ``prepared/<name>/`` holds one .npy file for each array, and ``meta.json``.

Everything that is needed to open the arrays is in ``meta.json``, so no result depends on the catalogue.
"""

import importlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fedatlas.data import places
from fedatlas.data.checks import fault
from fedatlas.data.contents import CSR, Contents
from fedatlas.data.dataset import Dataset
from fedatlas.data.hints import damaged
from fedatlas.errors import UserError
from fedatlas.io import npz

VERSION = 2  # of the arrays' names and of meta.json; what another version wrote is prepared again

# The form of what meta.json says: types, [form] for lists, and mappings by key.
ARRAY = {"bytes": int, "sha256": str}
FILE = {"name": str, "urls": [str], "origin": str} | ARRAY
TEXTS = ("title", "page", "licence", "citation", "bibtex", "note", "lossy")
COUNTS = ("rows", "test_rows", "features", "classes")
PROVENANCE: dict[str, Any] = dict.fromkeys(TEXTS, str) | dict.fromkeys(COUNTS, int)
PROVENANCE |= {"shape": [int], "files": [FILE]}


@dataclass(frozen=True)
class Meta:
    """What ``meta.json`` says.

    arrays: size in bytes and SHA-256 of each array. contents: what the arrays hold. provenance: where they came from.
    """

    arrays: dict[str, dict[str, Any]]
    contents: Contents
    provenance: dict[str, Any]

    @property
    def lossy(self) -> bool:
        """Whether the data differ from the official ones."""
        return bool(self.provenance["lossy"])

    @property
    def bytes(self) -> int:
        """Size of all arrays together."""
        return sum(array["bytes"] for array in self.arrays.values())

    def write(self, folder: Path) -> None:
        """Write ``meta.json`` into a folder."""
        plain = {
            "version": VERSION,
            "arrays": self.arrays,
            "contents": self.contents.plain(),
            "provenance": self.provenance,
        }
        text = json.dumps(plain, indent=1, ensure_ascii=False) + "\n"
        (folder / "meta.json").write_text(text, encoding="utf-8")


def load(name: str, directory: str | Path | None = None) -> Dataset:
    """The prepared form of a data set.

    directory: the data directory; see `fedatlas.data.places.directory`. Raises UserError if the data set has not been
    prepared, if its arrays are damaged, or, with a guess, if there is no such data set.
    """
    folder = places.prepared(places.directory(directory), name)
    meta = read(folder)
    if meta is None:
        # Imported by name: what is in the catalogue changes no number of those who read prepared data.
        importlib.import_module("fedatlas.data.sources").info(name)
        raise UserError(
            f"the data set {name!r} is not prepared, or not whole, in {folder}: run 'fedatlas data fetch {name}' first"
        )
    return arrays(name, folder, meta)


def read(folder: Path) -> Meta | None:
    """What ``meta.json`` of a folder says; None if there is no whole prepared form that this version can read."""
    try:
        plain = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
        if plain["version"] != VERSION:
            return None
        _check(plain["arrays"], dict.fromkeys(plain["arrays"], ARRAY))
        _check(plain["provenance"], PROVENANCE)
        meta = Meta(plain["arrays"], Contents.of(plain["contents"]), plain["provenance"])
        sizes = {name: array["bytes"] for name, array in meta.arrays.items()}
        whole = all((folder / f"{name}.npy").stat().st_size == size for name, size in sizes.items())
        return meta if whole else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _check(value: Any, form: Any) -> None:
    """Raise ValueError if a JSON value has not the form that is wanted, or is text that no file can hold."""
    match form:
        case dict() if isinstance(value, dict) and value.keys() == form.keys():
            for key, one in value.items():
                _check(one, form[key])
        case [of] if isinstance(value, list):
            for one in value:
                _check(one, of)
        case type() if type(value) is form:
            str(value).encode()
        case _:
            raise ValueError(f"{value!r} is not of the form {form}")


def arrays(name: str, folder: Path, meta: Meta) -> Dataset:
    """The arrays of a prepared folder as a data set of a name. Raises UserError if they are damaged."""
    contents = meta.contents

    def array(stem: str, mapped: bool = False) -> np.ndarray:
        npz.check_array(folder / f"{stem}.npy")
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

    def whole(X: Any, y: Any, rows: int) -> None:
        if problem := fault(contents, X, y, rows):
            raise ValueError(problem)

    try:
        made = Dataset(
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
        whole(made.X, made.y, contents.rows)
        if contents.test_rows:
            whole(made.X_test, made.y_test, contents.test_rows)
        return made
    except (OSError, ValueError, TypeError, IndexError) as error:
        raise damaged(folder, str(error)) from error
