"""LIBSVM text, ``label index:value index:value ...`` with indices from 1 that increase, which scikit-learn parses."""

import bz2
import gzip
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from fedatlas.data.dataset import Contents
from fedatlas.data.readers.base import Reader, Writer
from fedatlas.data.readers.custom_reader import CustomReader, Samples
from fedatlas.errors import UserError
from fedatlas.io.machine import require_memory
from fedatlas.registry.options import option

MOST_FEATURES = 2**31 - 1  # the largest index of 32 bits
_COPIES = 4  # of the model that training holds at least
_LINES = 10_000  # that are parsed at once, so that a file of any size takes bounded memory
_OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open}


@dataclass(frozen=True, kw_only=True)
class Libsvm(Reader):
    """A file of LIBSVM text, which has a training part only."""

    name = "libsvm"

    labels: tuple[float, ...] = option(doc="the labels of the file, in the order of the classes")

    def read(self, paths: Sequence[Path], contents: Contents, out: Writer) -> None:
        from scipy.sparse import vstack
        from sklearn.datasets import load_svmlight_file

        dense = None if contents.sparse else out.create("X", (contents.rows, contents.features), contents.dtype)
        blocks, labels, rows = [], [np.empty(0)], 0
        with _OPENERS.get(paths[0].suffix, open)(paths[0], "rb") as file:
            while rows <= contents.rows and (lines := list(islice(file, _LINES))):
                text = io.BytesIO(b"".join(lines))
                X, y = load_svmlight_file(text, n_features=contents.features, dtype=contents.dtype, zero_based=False)
                if not np.isfinite(X.data).all():
                    raise ValueError("it holds a value that is not finite")
                rows += len(y)
                if dense is None:
                    blocks.append(X)
                elif rows <= contents.rows:
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
        from sklearn.datasets import load_svmlight_file

        matrices, labels = [], []
        for path in paths:
            try:
                X, y = load_svmlight_file(str(path), n_features=self.count, zero_based=False)
            except (ValueError, OverflowError, EOFError, OSError) as error:
                raise UserError(f"{path}: is not LIBSVM text: {' '.join(str(error).split())}") from None
            if not X.nnz:
                raise UserError(f"{path}: is not LIBSVM text with features")
            advice = "is the largest index a mistake?"
            require_memory(_COPIES * 8 * X.shape[1], f"{path}: a model of {X.shape[1]:,} features", advice)
            matrices.append(X)
            labels.append(y)
        width = max(X.shape[1] for X in matrices)
        for X in matrices:
            X.resize(X.shape[0], width)
        X, y = vstack(matrices, format="csr"), np.concatenate(labels)
        return Samples(X=X, y=y, test=np.arange(len(y)) >= len(labels[0]) if len(paths) > 1 else None)
