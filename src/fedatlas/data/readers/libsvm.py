"""LIBSVM text, ``label index:value index:value ...`` with indices from 1 that increase, which scikit-learn parses."""

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from fedatlas.data.compression import chunks
from fedatlas.data.dataset import Contents
from fedatlas.data.errors import custom_file_error, raw_file_error
from fedatlas.data.readers.base import Reader, Writer
from fedatlas.data.readers.custom_reader import CustomReader, Samples, find_fraction, read_chunks
from fedatlas.errors import UserError
from fedatlas.registry.options import option

MOST_FEATURES = 2**31 - 1  # the largest index of 32 bits


@dataclass(frozen=True, kw_only=True)
class Libsvm(Reader):
    """A file of LIBSVM text, which has a training part only."""

    name = "libsvm"

    labels: tuple[float, ...] = option(doc="the labels of the file, in the order of the classes")

    def read(self, paths: Sequence[Path], contents: Contents, out: Writer) -> None:
        from scipy.sparse import vstack

        (path,) = paths
        dense = None if contents.sparse else out.create("X", (contents.rows, contents.features), contents.dtype)
        blocks, labels, rows = [], [np.empty(0)], 0
        for block in _blocks(chunks(path)):  # of whole lines, so that a file of any size takes bounded memory
            X, y = _parse(block, path, raw_file_error, contents.features, contents.dtype)
            rows += len(y)
            if rows > contents.rows:
                break
            if dense is None:
                blocks.append(X)
            else:
                X.toarray(out=dense[rows - len(y) : rows])
            labels.append(y)
        if rows != contents.rows:
            raise raw_file_error(path, f"does not hold the {contents.rows:,} rows expected")
        y = np.concatenate(labels)
        if not np.isin(y, self.labels).all():
            expected = ", ".join(f"{label:g}" for label in self.labels)
            raise raw_file_error(path, f"holds a label that is none of {expected}")
        if dense is None:
            out.save("X", vstack(blocks, format="csr"))
        out.save("y", np.argmax(y[:, None] == np.asarray(self.labels, float), axis=1))


@dataclass(frozen=True, kw_only=True)
class Svmlight(CustomReader):
    """LIBSVM text, ``label index:value ...`` with indices from 1, plain or compressed; kept as a sparse matrix."""

    name = "svmlight"
    endings = (".libsvm", ".svmlight", ".svm")

    count: int | None = option(
        None, doc="number of features; by default the largest index of the file", low=1, high=MOST_FEATURES
    )

    def load(self, paths: Sequence[Path]) -> Samples:
        from scipy.sparse import vstack

        parts = [_parse(b"".join(read_chunks(path)), path, custom_file_error, self.count) for path in paths]
        width = max(X.shape[1] for X, _ in parts)
        for path, (X, y) in zip(paths, parts, strict=True):
            if not X.nnz:
                raise custom_file_error(path, "is not LIBSVM text with features")
            if (fraction := find_fraction(y)) is not None:
                raise custom_file_error(path, f"the label {y[fraction]:g} is not a whole number")
            X.resize(len(y), width)
        X, y = vstack([X for X, _ in parts], format="csr"), np.concatenate([y for _, y in parts]).astype(np.int64)
        return Samples(X=X, y=y, test=np.arange(len(y)) >= len(parts[0][1]) if len(parts) > 1 else None)


def _parse(
    text: bytes, path: Path, error: Callable[..., UserError], features: int | None, dtype: DTypeLike = np.float64
) -> tuple[Any, np.ndarray]:
    """Return the rows of a text as a CSR matrix, and their labels, float64 (rows,).

    Args:
        text: Whole lines.
        path: Path of the file, for errors.
        error: Builds the error from a path and a fault.
        features: Number of features, None for the largest index.
        dtype: Type of the values.

    Raises:
        UserError: If the text is not LIBSVM text, or holds a value that is not finite.
    """
    from sklearn.datasets import load_svmlight_file

    try:
        X, y = load_svmlight_file(io.BytesIO(text), n_features=features, dtype=dtype, zero_based=False)
    except (ValueError, OverflowError, MemoryError) as fault:
        raise error(path, f"is not LIBSVM text: {' '.join(str(fault).split())[:200]}") from None
    if not np.isfinite(X.data).all():
        raise error(path, "holds a value that is not finite")
    return X, y


def _blocks(content: Iterable[bytes]) -> Iterator[bytes]:
    """Yield blocks of whole lines."""
    parts: list[bytes] = []
    for chunk in content:
        head, newline, tail = chunk.rpartition(b"\n")
        if newline:
            yield b"".join((*parts, head, newline))
            parts = []
        parts.append(tail)
    if any(parts):
        yield b"".join(parts)
