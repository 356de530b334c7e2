"""LIBSVM text: ``label index:value index:value ...``, with indices from 1 that increase.

scikit-learn parses blocks of whole lines, so a file of any size is read in bounded memory. Only if a block does not
parse are its lines examined one by one, to name the line at fault.
"""

import io
import re
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
from fedatlas.data.readers.custom_reader import CustomReader, Samples, read_chunks
from fedatlas.errors import UserError
from fedatlas.registry.options import option

MOST_FEATURES = 2**31 - 1  # the largest index of 32 bits
_PAIR = re.compile(r"(\d+):(\S+)")


@dataclass(frozen=True, kw_only=True)
class Libsvm(Reader):
    """A file of LIBSVM text, which has a training part only."""

    name = "libsvm"

    labels: tuple[float, ...] = option(doc="the labels of the file, in the order of the classes")

    def read(self, paths: Sequence[Path], contents: Contents, out: Writer) -> None:
        from scipy.sparse import vstack

        (path,) = paths
        dense = None if contents.sparse else out.create("X", (contents.rows, contents.features), contents.dtype)
        blocks, classes, rows = [], [], 0
        for X, y in parse(path, contents.features, contents.dtype, self.labels):
            rows += len(y)
            if rows > contents.rows:
                raise raw_file_error(path, f"holds more than the {contents.rows:,} rows expected")
            if dense is None:
                blocks.append(X)
            else:
                X.toarray(out=dense[rows - len(y) : rows])
            classes.append(np.argmax(y[:, None] == np.asarray(self.labels, float), axis=1))
        if rows < contents.rows:
            raise raw_file_error(path, f"holds {rows:,} rows, expected {contents.rows:,}")
        if dense is None:
            out.save("X", vstack(blocks, format="csr"))
        out.save("y", np.concatenate(classes))


@dataclass(frozen=True, kw_only=True)
class Svmlight(CustomReader):
    """LIBSVM text, ``label index:value ...`` with indices from 1, plain or compressed; kept as a sparse matrix."""

    name = "svmlight"
    endings = (".libsvm", ".svmlight", ".svm")

    count: int | None = option(
        None, doc="number of features; by default the largest index of the file", low=1, high=MOST_FEATURES
    )

    def load(self, paths: Sequence[Path]) -> Samples:
        from scipy.sparse import csr_matrix, vstack

        parts = [list(parse(path, error=custom_file_error, read=read_chunks)) for path in paths]
        for path, blocks in zip(paths, parts, strict=True):
            if not any(X.nnz for X, _ in blocks):
                raise custom_file_error(path, "is not LIBSVM text with features")
        largest = max(X.shape[1] for blocks in parts for X, _ in blocks)
        if self.count is not None and self.count < largest:
            raise custom_file_error(
                paths[0], f"there is a feature with the index {largest}, and count says {self.count}"
            )
        width = self.count or largest
        blocks = [block for part in parts for block in part]
        X = vstack([csr_matrix((X.data, X.indices, X.indptr), (X.shape[0], width)) for X, _ in blocks], format="csr")
        y = np.concatenate([y for _, y in blocks]).astype(np.int64)
        train_rows = sum(len(y) for _, y in parts[0])
        return Samples(X=X, y=y, test=np.arange(len(y)) >= train_rows if len(parts) > 1 else None)


def parse(
    path: Path,
    features: int | None = None,
    dtype: DTypeLike = np.float64,
    labels: Sequence[float] | None = None,
    error: Callable[..., UserError] = raw_file_error,
    read: Callable[[Path], Iterable[bytes]] = chunks,
) -> Iterator[tuple[Any, np.ndarray]]:
    """Yield the rows of a file in blocks.

    Args:
        path: Path of the file, plain or compressed.
        features: Number of features, None if unknown.
        dtype: Type of the values.
        labels: Labels of the file, None for all whole numbers.
        error: Builds the error from a path, a fault and a line.
        read: Returns the decompressed bytes of a path in parts.

    Yields:
        CSR (rows, features) and the labels float64 (rows,) of a block. If the number of features is unknown, that of a
        block is its largest index.

    Raises:
        UserError: If the file is not LIBSVM text; it names the line at fault.
    """
    from sklearn.datasets import load_svmlight_file

    line = 1
    for block in _blocks(read(path)):
        try:
            X, y = load_svmlight_file(io.BytesIO(block), n_features=features, dtype=dtype, zero_based=False)
            integral = (y == np.round(y)) & (np.abs(y) < 2**53)
            valid = np.isfinite(X.data).all() and np.all(integral if labels is None else np.isin(y, labels))
            reason = "a label or a value is out of range"
        except (ValueError, OverflowError, MemoryError) as fault:
            valid, reason = False, " ".join(str(fault).split())[:200]
        if not valid:
            raise error(path, *_find_fault(block, line, features or MOST_FEATURES, labels, reason))
        if len(y):
            yield X, y
        line += block.count(b"\n")


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


def _find_fault(
    block: bytes, first: int, features: int, labels: Sequence[float] | None, reason: str
) -> tuple[str, int | None]:
    """Return what is wrong with a block that does not parse, and the line at fault.

    Args:
        block: Whole lines.
        first: Number of the first line.
        features: Largest index.
        labels: Labels of the file, None for all whole numbers.
        reason: The parser's words, for a fault that no line shows.
    """
    for number, line in enumerate(block.decode("latin-1").split("\n"), first):
        if not (words := line.partition("#")[0].split()):
            continue
        label, *pairs = words
        if labels is None and (not _is_finite(label) or float(label) != round(float(label))):
            return f"the label {label[:40]!a} is no whole number", number
        if labels is not None and (not _is_finite(label) or float(label) not in labels):
            return f"the label {label[:40]!a} is none of {', '.join(f'{value:g}' for value in labels)}", number
        last = 0
        for pair in pairs:
            match = _PAIR.fullmatch(pair)
            if not match or not _is_finite(match[2]):
                return f"{pair[:40]!a} is not index:value with a finite value", number
            index = int(match[1][:30])
            if not 1 <= index <= features:
                return f"the index of {pair[:40]!a} is not in 1..{features}", number
            if index <= last:
                return f"the index of {pair[:40]!a} does not increase (before it is {last})", number
            last = index
    return f"is not LIBSVM text ({reason})", None


def _is_finite(word: str) -> bool:
    try:
        return bool(np.isfinite(float(word)))
    except ValueError:
        return False
