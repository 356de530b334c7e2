"""LIBSVM text, ``label index:value index:value ...`` with indices from 1 that increase, which scikit-learn parses."""

import bz2
import gzip
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from fedatlas.data.dataset import Contents
from fedatlas.data.readers.base import Reader, Writer
from fedatlas.data.readers.custom_reader import CustomReader, Samples, find_fraction
from fedatlas.errors import UserError
from fedatlas.registry.options import option

MOST_FEATURES = 2**31 - 1  # the largest index of 32 bits
_LINES = 10_000  # that are parsed at once, so that a file of any size takes bounded memory
_OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open}


@dataclass(frozen=True, kw_only=True)
class Libsvm(Reader):
    """A file of LIBSVM text, which has a training part only."""

    name = "libsvm"

    labels: tuple[float, ...] = option(doc="the labels of the file, in the order of the classes")

    def read(self, paths: Sequence[Path], contents: Contents, out: Writer) -> None:
        from scipy.sparse import vstack

        dense = None if contents.sparse else out.create("X", (contents.rows, contents.features), contents.dtype)
        blocks, labels, rows = [], [np.empty(0)], 0
        for X, y in _parse(paths[0], contents.features, contents.dtype):
            rows += len(y)
            if rows > contents.rows:
                break
            if dense is None:
                blocks.append(X)
            else:
                X.toarray(out=dense[rows - len(y) : rows])
            labels.append(y)
        if rows != contents.rows:
            raise ValueError(f"it does not hold the {contents.rows:,} rows expected")
        y = np.concatenate(labels)
        if not np.isin(y, self.labels).all():
            raise ValueError(f"it holds a label that is none of {', '.join(f'{label:g}' for label in self.labels)}")
        if dense is None:
            out.save("X", vstack(blocks, format="csr"))
        out.save("y", np.argmax(y[:, None] == np.asarray(self.labels, float), axis=1))


@dataclass(frozen=True, kw_only=True)
class Svmlight(CustomReader):
    """LIBSVM text, ``label index:value ...`` with indices from 1, plain, .gz or .bz2; kept as a sparse matrix."""

    name = "svmlight"
    endings = (".libsvm", ".svmlight", ".svm")

    count: int | None = option(
        None, doc="number of features; by default the largest index of the file", low=1, high=MOST_FEATURES
    )

    def load(self, paths: Sequence[Path]) -> Samples:
        from scipy.sparse import vstack

        matrices, labels, rows = [], [], []
        for path in paths:
            try:
                parts = list(_parse(path, self.count))
            except (ValueError, OverflowError, EOFError, OSError) as error:
                raise UserError(f"{path}: is not LIBSVM text: {' '.join(str(error).split())}") from None
            y = np.concatenate([np.empty(0), *(y for _, y in parts)])
            if not any(X.nnz for X, _ in parts):
                raise UserError(f"{path}: is not LIBSVM text with features")
            if (fraction := find_fraction(y)) is not None:
                raise UserError(f"{path}: the label {y[fraction]:g} is not a whole number")
            matrices += [X for X, _ in parts]
            labels.append(y.astype(np.int64))
            rows.append(len(y))
        width = max(X.shape[1] for X in matrices)
        for X in matrices:
            X.resize(X.shape[0], width)
        test = np.arange(sum(rows)) >= rows[0] if len(rows) > 1 else None
        return Samples(X=vstack(matrices, format="csr"), y=np.concatenate(labels), test=test)


def _parse(path: Path, features: int | None, dtype: DTypeLike = np.float64) -> Iterator[tuple[Any, np.ndarray]]:
    """Yield blocks of rows as a CSR matrix with their labels, float64 (rows,).

    Args:
        path: Path of the file.
        features: Number of features, None for the largest index of a block.
        dtype: Type of the values.

    Raises:
        ValueError: The file is not LIBSVM text, or holds a value that is not finite.
    """
    from sklearn.datasets import load_svmlight_file

    with _OPENERS.get(path.suffix, open)(path, "rb") as file:
        while lines := list(islice(file, _LINES)):
            X, y = load_svmlight_file(io.BytesIO(b"".join(lines)), n_features=features, dtype=dtype, zero_based=False)
            if not np.isfinite(X.data).all():
                raise ValueError("it holds a value that is not finite")
            yield X, y
