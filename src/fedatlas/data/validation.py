"""Whether prepared arrays are what a source promises."""

from pathlib import Path
from typing import Any

import numpy as np

from fedatlas.data.dataset import Contents, Dataset
from fedatlas.errors import UserError

_ROWS = 4096  # that are looked at at once


def validate(contents: Contents, data: Dataset, where: Path) -> None:
    """Check a data set against what it should hold.

    Rows, features, types, finite values, the range of the labels and the samples of each class are compared. where: the
    folder of the arrays, for the sentence. Raises UserError at the first fault.
    """
    _part(contents, data.X, data.y, contents.rows, contents.counts, f"{where}, training part")
    if contents.test_rows:
        _part(contents, data.X_test, data.y_test, contents.test_rows, None, f"{where}, test part")


def find_fault(contents: Contents, X: Any, y: Any, rows: int) -> str | None:
    """What is wrong with the form of a part: its shapes, types, labels and, where sparse, indices; None if nothing is.

    X: samples, y: labels, rows: their number. The values of samples are not looked at.
    """
    shape = (rows, *contents.shape)
    if X.shape != shape or X.dtype != contents.dtype:
        return f"samples are {X.dtype} {X.shape}, expected {contents.dtype} {shape}"
    if y.shape != (rows,) or y.dtype != np.int64:
        return f"labels are {y.dtype} {y.shape}, expected int64 {(rows,)}"
    if not 0 <= y.min() <= y.max() < contents.classes:
        return f"labels are not the {contents.classes} classes from 0 on"
    return "the sparse matrix is inconsistent" if contents.sparse and not _csr(X, contents.features) else None


def _part(contents: Contents, X: Any, y: Any, rows: int, counts: tuple[int, ...] | None, where: str) -> None:
    if problem := find_fault(contents, X, y, rows):
        raise _wrong(where, problem)
    found = np.bincount(y, minlength=contents.classes)
    if not all(found):
        raise _wrong(where, f"labels are not the {contents.classes} classes from 0 on")
    if counts and tuple(found) != counts:
        raise _wrong(where, f"the classes have {tuple(map(int, found))} samples, expected {counts}")
    values = X.data if contents.sparse else X
    for start in range(0, len(values), _ROWS):
        block = values[start : start + _ROWS]
        if X.dtype == np.uint8:
            sound = contents.scale >= 255 or block.max() <= contents.scale
        else:
            sound = np.isfinite(block).all()
        if not sound:
            raise _wrong(where, "a value is not finite or out of range")


def _csr(X: Any, features: int) -> bool:
    inside = len(X.indices) == len(X.data) and (not len(X.data) or 0 <= X.indices.min() <= X.indices.max() < features)
    return bool(inside and X.indptr[0] == 0 and X.indptr[-1] == len(X.data) and (np.diff(X.indptr) >= 0).all())


def _wrong(where: str, problem: str) -> UserError:
    return UserError(f"{where}: {problem}; fetch the raw files again, or put good copies in their place")
