"""Prepared data: ``prepared/<name>/`` with one .npy per array and ``meta.json``."""

import json
import os
import shutil
import uuid
from collections.abc import Iterable
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from fedatlas.data import fetching, places
from fedatlas.data.checks import check
from fedatlas.data.dataset import Dataset
from fedatlas.data.readers import reader
from fedatlas.data.sources import REGISTRY, Form, Source, info
from fedatlas.errors import UserError

_VERSION = 1
_CSR = ("data", "indices", "indptr")


class Writer:
    """Takes the arrays that a format reads and writes them to a folder."""

    def __init__(self, folder: Path):
        self.folder = folder

    def create(self, name: str, shape: tuple[int, ...], dtype) -> np.ndarray:
        """An array to fill, mapped to its file: it may be larger than memory."""
        return np.lib.format.open_memmap(self.folder / f"{name}.npy", "w+", np.dtype(dtype), shape)

    def save(self, name: str, value) -> None:
        """A dense array as one file, a CSR matrix as three."""
        if isinstance(value, np.ndarray):
            np.save(self.folder / f"{name}.npy", np.ascontiguousarray(value))
            return
        for part in _CSR:
            array = getattr(value, part)
            np.save(self.folder / f"{name}_{part}.npy", array if part == "data" else array.astype(np.int32))


def prepare(name: str, directory: str | Path | None = None, mirrors: str | Path | Iterable[str | Path] = ()) -> Path:
    """Fetch a data set if need be, read and verify it, and return the folder of its prepared form.

    What is prepared already is left alone, unless it is lossy and the official files have come to lie in the data
    directory. The folder appears whole or not at all, and the same raw files give the same bytes. Raises UserError if
    a file cannot be had, cannot be read or does not hold the rows, features and classes that it should.
    """
    source, root = info(name), places.directory(directory)
    folder = places.prepared(root, name)
    if _current(source, root):
        return folder
    with places.writing(root), places.alone(folder):
        if not _current(source, root):
            _build(source, root, mirrors, folder)
    return folder


def _build(source: Source, root: Path, mirrors, folder: Path) -> None:
    form, paths = fetching.gather(source, root, mirrors)
    with _replacing(folder) as building:
        reader(form.reader).read(paths, source, form.options, Writer(building))
        arrays = {
            path.stem: {"bytes": path.stat().st_size, "sha256": fetching.checksum(path).partition(":")[2]}
            for path in sorted(building.glob("*.npy"))
        }
        meta = {"version": _VERSION, "arrays": arrays, "provenance": _provenance(source, form, paths)}
        text = json.dumps(meta, indent=1, ensure_ascii=False) + "\n"
        (building / "meta.json").write_text(text, encoding="utf-8")
        check(source, _open(source, building, meta), building)


def load(name: str, directory: str | Path | None = None) -> Dataset:
    """The prepared form of a data set; UserError if it has not been prepared."""
    source = info(name)
    folder = places.prepared(places.directory(directory), name)
    meta = _meta(folder)
    if meta is None:
        raise UserError(
            f"the data set {name!r} is not prepared, or not whole, in {folder}: run 'fedatlas data fetch {name}' first"
        )
    return _open(source, folder, meta)


def verify(name: str, directory: str | Path | None = None) -> list[Path]:
    """Check a data set's raw and prepared files against sizes, checksums, rows, features and classes.

    Returns the files checked; raises UserError at the first that is not as it should be, or if there is none.
    """
    source, root = info(name), places.directory(directory)
    found = fetching.lying(source, places.raw(root, source.group)) if not source.embedded else None
    form, checked = found or (None, [])
    for path, file in zip(checked, form.files if form else (), strict=True):
        if problem := fetching.mismatch(path, file):
            raise UserError(f"{path} {problem}: delete it and fetch it again, or put a good copy in its place")
    folder = places.prepared(root, name)
    if (meta := _meta(folder)) is None:
        if checked:
            return checked
        raise UserError(f"nothing of the data set {name!r} lies in {root}: run 'fedatlas data fetch {name}' first")
    for stem, known in meta["arrays"].items():
        path = folder / f"{stem}.npy"
        if not path.is_file() or fetching.checksum(path) != f"sha256:{known['sha256']}":
            raise _damaged(folder, f"{path.name} is missing or has changed")
    check(source, _open(source, folder, meta), folder)
    return [*checked, *(folder / f"{stem}.npy" for stem in meta["arrays"])]


def status(directory: str | Path | None = None, mirrors: str | Path | Iterable[str | Path] = ()) -> list[dict]:
    """One row per data set: name, kind, state, bytes, lossy, path. Nothing is read or asked over the network.

    `kind` is embedded or downloadable. `state` is prepared; raw, if all that preparing needs lies on this machine;
    mirror, if a folder among the mirrors holds it; or missing. `bytes` are those at `path`, or those to download, None
    if unknown.
    """
    root = places.directory(directory)
    return [_status(source, root, places.mirrors(mirrors)) for _, source in sorted(REGISTRY.items())]


def _status(source: Source, root: Path, mirrors: list[str]) -> dict:
    row = {"name": source.name, "kind": "embedded" if source.embedded else "downloadable"}
    folder = places.prepared(root, source.name)
    if meta := _meta(folder):
        size = sum(array["bytes"] for array in meta["arrays"].values())
        return row | {"state": "prepared", "bytes": size, "lossy": _lossy(meta), "path": folder}
    if source.embedded:
        return row | {"state": "raw", "bytes": 0, "lossy": False, "path": None}
    folders = [("raw", places.raw(root, source.group))]
    folders += [("mirror", Path(m).expanduser() / source.group) for m in mirrors if not places.is_url(m)]
    for state, folder in folders:
        if found := fetching.lying(source, folder):
            size = sum(path.stat().st_size for path in found[1])
            return row | {"state": state, "bytes": size, "lossy": bool(found[0].lossy), "path": folder}
    return row | {"state": "missing", "bytes": source.bytes, "lossy": False, "path": None}


def _current(source: Source, root: Path) -> bool:
    meta = _meta(places.prepared(root, source.name))
    if meta is None or not _lossy(meta):
        return meta is not None
    found = fetching.lying(source, places.raw(root, source.group))
    return found is None or bool(found[0].lossy)


def _meta(folder: Path) -> dict | None:
    """What ``meta.json`` says; None if there is no whole prepared form that this version can read."""
    try:
        meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
        sizes = {name: array["bytes"] for name, array in meta["arrays"].items()}
        whole = all((folder / f"{name}.npy").stat().st_size == size for name, size in sizes.items())
        return meta if whole and meta["version"] == _VERSION else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _lossy(meta: dict) -> bool:
    return bool(meta["provenance"]["lossy"])


def _open(source: Source, folder: Path, meta: dict) -> Dataset:
    def array(name, mapped=False):
        return np.load(folder / f"{name}.npy", mmap_mode="r" if mapped else None, allow_pickle=False)

    def samples(name, rows):
        if not rows:
            return None
        if not source.sparse:
            return np.asarray(array(name, mapped=True))
        from scipy.sparse import csr_matrix

        return csr_matrix(tuple(array(f"{name}_{part}") for part in _CSR), shape=(rows, source.features))

    try:
        return Dataset(
            name=source.name,
            X=samples("X", source.rows),
            y=array("y"),
            X_test=samples("X_test", source.test_rows),
            y_test=array("y_test") if source.test_rows else None,
            classes=source.classes,
            lossy=_lossy(meta),
            provenance=meta["provenance"],
            scale=source.scale,
        )
    except (OSError, ValueError, EOFError) as error:
        raise _damaged(folder, str(error)) from error


def _damaged(folder: Path, problem: str) -> UserError:
    return UserError(f"the prepared data in {folder} are damaged ({problem}): delete the folder and prepare it again")


def _provenance(source: Source, form: Form, paths: list[Path]) -> dict:
    return {
        "title": source.title,
        "page": source.page,
        "licence": source.licence,
        "citation": source.citation,
        "bibtex": source.bibtex,
        "note": source.note,
        "lossy": form.lossy,
        "rows": source.rows,
        "test_rows": source.test_rows,
        "shape": list(source.shape),
        "features": source.features,
        "classes": source.classes,
        "files": [
            {
                "name": path.name,
                "urls": list(file.urls),
                "origin": fetching.origin(path),
                "bytes": path.stat().st_size,
                "sha256": fetching.checksum(path).partition(":")[2],
            }
            for path, file in zip(paths, form.files, strict=True)
        ],
    }


@contextmanager
def _replacing(folder: Path):
    """A new folder to fill, which becomes `folder` if nothing goes wrong and vanishes if something does."""
    building = folder.with_name(f".{folder.name}.{uuid.uuid4().hex}")
    building.mkdir(parents=True)
    try:
        yield building
        if folder.exists():
            os.rename(folder, f"{building}.old")
        os.rename(building, folder)
    finally:
        shutil.rmtree(building, ignore_errors=True)
        shutil.rmtree(f"{building}.old", ignore_errors=True)
