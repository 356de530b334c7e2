"""SVHN's MATLAB files: X (height, width, channels, n) and y (n, 1) with the digit 0 as label 10."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fedatlas.data.dataset import Contents
from fedatlas.data.readers.base import Reader, Writer


@dataclass(frozen=True, kw_only=True)
class Mat(Reader):
    """SVHN's two MATLAB files: training part, test part."""

    name = "mat"

    def read(self, paths: Sequence[Path], contents: Contents, out: Writer) -> None:
        from scipy.io import loadmat

        for suffix, path in zip(("", "_test"), paths, strict=True):
            arrays = loadmat(path, variable_names=("X", "y"))
            images = arrays["X"].transpose(3, 2, 0, 1)
            out.create(f"X{suffix}", images.shape, "uint8")[:] = images
            out.save(f"y{suffix}", arrays["y"].ravel().astype(np.int64) % 10)
