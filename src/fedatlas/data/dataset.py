"""A data set in memory."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from fedatlas.errors import UserError, did_you_mean


@dataclass(frozen=True, eq=False)
class Dataset:
    """Samples and labels, as prepared.

    X: samples; a SciPy CSR matrix (n, features) of float64, a dense array (n, features), or uint8 images (n, channels,
    height, width) with pixels 0..scale. Dense samples are read-only and mapped from disk. y: labels, int64 (n,) in
    0..classes-1; of two classes, 1 is the positive one. X_test, y_test: the test part, None where there is none. lossy:
    whether the data differ from the official ones. provenance: where every file came from, its checksum, licence and
    citation, and what was done to it. scale: the largest raw value of an image. X_validation, y_validation: training
    rows that a problem holds out, None where it holds out none.
    """

    name: str
    X: Any
    y: np.ndarray
    X_test: Any
    y_test: np.ndarray | None
    classes: int
    lossy: bool
    provenance: dict[str, Any]
    scale: float = 1.0
    X_validation: Any = None
    y_validation: np.ndarray | None = None

    def features(self, split: str = "train", dtype: DTypeLike = np.float64) -> Any:
        """The features of a part, (n, d).

        split: ``train``, ``test`` or ``validation``. dtype: to which the whole part is converted at once. Returns a
        dense array, or a CSR matrix where the samples are one; images are flattened and divided by ``scale``, so they
        lie in [0, 1]. Raises UserError if the data set has no such part.
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
