"""Whether prepared arrays are what a source promises."""

from pathlib import Path
from typing import Any

import numpy as np

from fedatlas.data.contents import Contents
from fedatlas.data.dataset import Dataset
from fedatlas.errors import UserError

_ROWS = 4096  # that are looked at at once


def check(contents: Contents, data: Dataset, where: Path) -> None:
    """Check a data set against what it should hold.

    Rows, features, types, finite values, the range of the labels and the samples of each class are compared. where: the
    folder of the arrays, for the sentence. Raises UserError at the first fault.
    """
    _part(contents, data.X, data.y, contents.rows, contents.counts, f"{where}, training part")
    if contents.test_rows:
        _part(contents, data.X_test, data.y_test, contents.test_rows, None, f"{where}, test part")


def _part(contents: Contents, X: Any, y: Any, rows: int, counts: tuple[int, ...] | None, where: str) -> None:
    shape = (rows, *contents.shape)
    if X.shape != shape or X.dtype != contents.dtype:
        raise _wrong(where, f"samples are {X.dtype} {X.shape}, expected {contents.dtype} {shape}")
    if y.shape != (rows,) or y.dtype != np.int64:
        raise _wrong(where, f"labels are {y.dtype} {y.shape}, expected int64 {(rows,)}")
    inside = 0 <= y.min() and y.max() < contents.classes
    found = np.bincount(y, minlength=contents.classes) if inside else np.zeros(0, np.int64)
    if not inside or not all(found):
        raise _wrong(where, f"labels are not the {contents.classes} classes from 0 on")
    if counts and tuple(found) != counts:
        raise _wrong(where, f"the classes have {tuple(map(int, found))} samples, expected {counts}")
    if contents.sparse:
        _csr(X, contents.features, where)
    values = X.data if contents.sparse else X
    for start in range(0, len(values), _ROWS):
        block = values[start : start + _ROWS]
        if X.dtype == np.uint8:
            sound = contents.scale >= 255 or block.max() <= contents.scale
        else:
            sound = np.isfinite(block).all()
        if not sound:
            raise _wrong(where, "a value is not finite or out of range")


def _csr(X: Any, features: int, where: str) -> None:
    inside = len(X.indices) == len(X.data) and (not len(X.data) or 0 <= X.indices.min() <= X.indices.max() < features)
    if not inside or X.indptr[0] != 0 or X.indptr[-1] != len(X.data) or (np.diff(X.indptr) < 0).any():
        raise _wrong(where, "the sparse matrix is inconsistent")


def _wrong(where: str, problem: str) -> UserError:
    return UserError(f"{where}: {problem}; fetch the raw files again, or put good copies in their place")
