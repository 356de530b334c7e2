"""SVHN's MATLAB files: X (height, width, channels, n) and y (n, 1) with the digit 0 as label 10."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fedatlas.data.contents import Contents
from fedatlas.data.hints import broken
from fedatlas.data.readers.base import Reader
from fedatlas.data.writer import Writer


@dataclass(frozen=True, kw_only=True)
class Mat(Reader):
    """SVHN's two MATLAB files: training part, test part."""

    name = "mat"

    def read(self, paths: Sequence[Path], contents: Contents, out: Writer) -> None:
        for suffix, rows, path in zip(("", "_test"), (contents.rows, contents.test_rows), paths, strict=True):
            X, y = arrays(path, rows, contents.shape)
            target = out.create(f"X{suffix}", (rows, *contents.shape), "uint8")
            target[:] = X.transpose(3, 2, 0, 1)
            out.save(f"y{suffix}", y.astype(np.int64).ravel() % 10)


def arrays(path: Path, rows: int, shape: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """X (height, width, channels, rows) and y (rows, 1) of a file; shapes are checked before anything is unpacked.

    shape: of an image, (channels, height, width). Raises UserError if the file is damaged, or another one.
    """
    from scipy.io import loadmat, whosmat

    channels, height, width = shape
    expected = {"X": (height, width, channels, rows), "y": (rows, 1)}
    try:
        found = {name: size for name, size, _ in whosmat(path, appendmat=False)}
        for name, size in expected.items():
            if found.get(name) != size:
                raise ValueError(f"{name} is {found.get(name, 'missing')}, expected {size}")
        content = loadmat(path, variable_names=list(expected), appendmat=False)
        X, y = content["X"], content["y"]
    except Exception as error:  # SciPy's parser raises whatever a damaged file makes it stumble over
        raise broken(path, f"is not SVHN's MATLAB file ({error})") from error
    if X.dtype != np.uint8 or not np.isin(y, range(1, 11)).all():
        raise broken(path, "does not hold bytes with labels 1..10")
    return X, y
