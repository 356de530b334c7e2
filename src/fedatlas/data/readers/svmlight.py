"""A person's own LIBSVM text, whose labels and features are found by reading it."""

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fedatlas.data.compression import open_compressed
from fedatlas.data.errors import custom_file_error
from fedatlas.data.readers.custom_reader import CustomReader, Samples
from fedatlas.errors import UserError
from fedatlas.registry.options import option

_PAIR = re.compile(r"(\d+):(\S+)")
MOST_FEATURES = 2**31 - 1  # that indices of 32 bits can name


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

        parts = [_parsed(path) for path in paths]
        widest = max(X.shape[1] for X, _ in parts)
        if self.count is not None and self.count < widest:
            raise custom_file_error(
                paths[0], f"there is a feature with the index {widest}, and count says {self.count}"
            )
        width = self.count or widest
        X = vstack([csr_matrix((X.data, X.indices, X.indptr), (X.shape[0], width)) for X, _ in parts], format="csr")
        y = np.concatenate([y for _, y in parts])
        test = np.arange(len(y)) >= len(parts[0][1]) if len(parts) > 1 else None
        return Samples(X=X, y=y, test=test)


def _parsed(path: Path) -> tuple[Any, np.ndarray]:
    """The samples of a file, CSR (n, d), and their labels, int64 (n,)."""
    from sklearn.datasets import load_svmlight_file

    with open_compressed(path) as stream:
        content = stream.read()
    try:
        X, y = load_svmlight_file(io.BytesIO(content), zero_based=False, dtype=np.float64)
        sound = np.isfinite(X.data).all() and (y == np.round(y)).all() and (np.abs(y) < 2**53).all() and len(X.data)
        reason = "labels are whole numbers, and values finite numbers"
    except (ValueError, OverflowError, MemoryError) as error:
        sound, reason = False, " ".join(str(error).split())[:200]
    if not sound:
        raise _fault(path, content, reason)
    return X, y.astype(np.int64)


def _fault(path: Path, content: bytes, reason: str) -> UserError:
    """The error for a file that is no LIBSVM text, with the line at fault."""
    for number, line in enumerate(content.decode("latin-1").split("\n"), 1):
        if not (words := line.partition("#")[0].split()):
            continue
        label, *pairs = words
        if not _finite(label) or float(label) != round(float(label)):
            return custom_file_error(path, f"the label {label!a} is no whole number", number)
        last = 0
        for pair in pairs:
            match = _PAIR.fullmatch(pair)
            if not match or not _finite(match[2]):
                return custom_file_error(path, f"{pair[:40]!a} is not index:value with a finite value", number)
            index = int(match[1][:30])
            if not 1 <= index <= MOST_FEATURES:
                return custom_file_error(path, f"the index of {pair[:40]!a} is not in 1..{MOST_FEATURES}", number)
            if index <= last:
                return custom_file_error(
                    path, f"the index of {pair[:40]!a} does not increase (before it is {last})", number
                )
            last = index
    return custom_file_error(path, f"is not LIBSVM text with features ({reason})")


def _finite(word: str) -> bool:
    try:
        return bool(np.isfinite(float(word)))
    except ValueError:
        return False
