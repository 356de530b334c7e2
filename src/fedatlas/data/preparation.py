"""Preparation: raw files become arrays on disk. Only this module and its imports decide the bytes of the arrays."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fedatlas.data.catalogue import CustomSource, Form, Source, checksum
from fedatlas.data.dataset import VERSION, Contents, Dataset, Meta, open_arrays
from fedatlas.data.readers import READERS, Writer
from fedatlas.errors import UserError
from fedatlas.io.files import write_json

_BLOCK = 4096  # rows that are examined at once


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
