"""Validation of prepared arrays against the contents that a source promises."""

from pathlib import Path
from typing import Any

import numpy as np

from fedatlas.data.dataset import Contents, Dataset
from fedatlas.errors import UserError

_BLOCK = 4096  # rows that are examined at once


def validate(contents: Contents, dataset: Dataset, folder: Path) -> None:
    """Validate rows, features, types, finite values, the range of the labels and the samples of each class.

    Args:
        contents: The promised contents.
        dataset: The arrays.
        folder: Folder of the arrays, for the sentence.

    Raises:
        UserError: At the first fault.
    """
    _validate_part(contents, dataset.X, dataset.y, contents.rows, contents.counts, f"{folder}, training part")
    if contents.test_rows:
        _validate_part(contents, dataset.X_test, dataset.y_test, contents.test_rows, None, f"{folder}, test part")


def find_fault(contents: Contents, X: Any, y: Any, rows: int) -> str | None:
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
    if contents.sparse and not _is_consistent(X, contents.features):
        return "the sparse matrix is inconsistent"
    return None


def _validate_part(contents: Contents, X: Any, y: Any, rows: int, counts: tuple[int, ...] | None, part: str) -> None:
    if fault := find_fault(contents, X, y, rows):
        raise _error(part, fault)
    samples = np.bincount(y, minlength=contents.classes)
    if not all(samples):
        raise _error(part, f"labels are not the {contents.classes} classes from 0 on")
    if counts and tuple(samples) != counts:
        raise _error(part, f"the classes have {tuple(map(int, samples))} samples, expected {counts}")
    values = X.data if contents.sparse else X
    for start in range(0, len(values), _BLOCK):
        block = values[start : start + _BLOCK]
        if X.dtype == np.uint8:
            valid = contents.scale >= 255 or block.max() <= contents.scale
        else:
            valid = np.isfinite(block).all()
        if not valid:
            raise _error(part, "a value is not finite or out of range")


def _is_consistent(X: Any, features: int) -> bool:
    """Return whether the three arrays of a CSR matrix fit together."""
    inside = len(X.indices) == len(X.data) and (not len(X.data) or 0 <= X.indices.min() <= X.indices.max() < features)
    return bool(inside and X.indptr[0] == 0 and X.indptr[-1] == len(X.data) and (np.diff(X.indptr) >= 0).all())


def _error(part: str, fault: str) -> UserError:
    return UserError(f"{part}: {fault}; fetch the raw files again, or put good copies in their place")
