"""Whether prepared arrays are what a source promises."""

from pathlib import Path

import numpy as np

from fedatlas.data.dataset import Dataset
from fedatlas.data.sources import Source
from fedatlas.errors import UserError

_ROWS = 4096


def check(source: Source, data: Dataset, where: Path) -> None:
    """Rows, features, types, finite values, label range and counts of both parts; UserError at the first fault."""
    _part(source, data.X, data.y, source.rows, source.counts, f"{where}, training part")
    if source.test_rows:
        _part(source, data.X_test, data.y_test, source.test_rows, None, f"{where}, test part")


def _part(source: Source, X, y: np.ndarray, rows: int, counts: tuple[int, ...] | None, where: str) -> None:
    shape = (rows, *source.shape)
    if X.shape != shape or X.dtype != source.dtype:
        raise _wrong(where, f"samples are {X.dtype} {X.shape}, expected {source.dtype} {shape}")
    if y.shape != (rows,) or y.dtype != np.int64:
        raise _wrong(where, f"labels are {y.dtype} {y.shape}, expected int64 {(rows,)}")
    found = np.bincount(y, minlength=source.classes) if y.min() >= 0 else ()
    if len(found) != source.classes or not all(found):
        raise _wrong(where, f"labels are not the {source.classes} classes from 0 on")
    if counts and tuple(found) != counts:
        raise _wrong(where, f"the classes have {tuple(map(int, found))} samples, expected {counts}")
    if source.sparse:
        _csr(X, source.features, where)
    values = X.data if source.sparse else X
    for start in range(0, len(values), _ROWS):
        block = values[start : start + _ROWS]
        if X.dtype == np.uint8:
            sound = source.scale >= 255 or block.max() <= source.scale
        else:
            sound = np.isfinite(block).all()
        if not sound:
            raise _wrong(where, "a value is not finite or out of range")


def _csr(X, features: int, where: str) -> None:
    inside = len(X.indices) == len(X.data) and (not len(X.data) or 0 <= X.indices.min() <= X.indices.max() < features)
    if not inside or X.indptr[0] != 0 or X.indptr[-1] != len(X.data) or (np.diff(X.indptr) < 0).any():
        raise _wrong(where, "the sparse matrix is inconsistent")


def _wrong(where: str, problem: str) -> UserError:
    return UserError(f"{where}: {problem}; fetch the raw files again, or put good copies in their place")
