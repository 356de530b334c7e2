"""A data set in memory."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fedatlas.errors import UserError
from fedatlas.registry import did_you_mean


@dataclass(frozen=True, eq=False)
class Dataset:
    """Samples and labels, as prepared.

    `X` is a SciPy CSR matrix (n, features) of float64, a dense (n, features) array, or uint8 images
    (n, channels, height, width) with pixels 0..`scale`; dense `X` are read-only and mapped from disk, not read. `y` is
    int64 (n,) in 0..classes-1; of two classes, 1 is the positive one. `X_test` and `y_test` are None where the source
    has no test part. `lossy` marks data that differ from the official ones; `provenance` says where every file came
    from, its checksum, licence, citation and what was done to it.
    """

    name: str
    X: Any
    y: np.ndarray
    X_test: Any
    y_test: np.ndarray | None
    classes: int
    lossy: bool
    provenance: dict
    scale: float = 1.0

    def features(self, split: str = "train", dtype=np.float64):
        """(n, d) features of a split: images flattened and divided by `scale`, so in [0, 1]; CSR stays CSR.

        The whole split is converted to `dtype` at once: 8 bytes a value for float64. Raises UserError if the data set
        has no such split.
        """
        if split not in ("train", "test"):
            raise UserError(f"unknown split {split!r}{did_you_mean(split, ('train', 'test'))}")
        X = self.X if split == "train" else self.X_test
        if X is None:
            raise UserError(f"the data set {self.name!r} has no test part: use the split 'train'")
        if not isinstance(X, np.ndarray):
            return X.astype(dtype, copy=False)
        flat = X.reshape(len(X), -1)
        if X.dtype != np.uint8:
            return flat.astype(dtype, copy=False)
        return np.divide(flat, self.scale, dtype=dtype)
