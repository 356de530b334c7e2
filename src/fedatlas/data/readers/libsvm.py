"""LIBSVM text, ``label index:value index:value ...`` with indices from 1 that increase, which scikit-learn parses."""

import bz2
import io
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from fedatlas.data.dataset import Contents
from fedatlas.data.readers import Reader, Writer
from fedatlas.data.readers.custom_reader import CustomReader, Samples
from fedatlas.errors import UserError
from fedatlas.registry.options import option

_LINES = 10_000  # that are parsed at once, so that a file of any size takes bounded memory


@dataclass(frozen=True, kw_only=True)
class Libsvm(Reader):
    """A file of LIBSVM text, plain or .bz2, which has a training part only."""

    name = "libsvm"

    labels: tuple[float, ...] = option(doc="the labels of the file, in the order of the classes")

    def read(self, paths: Sequence[Path], contents: Contents, out: Writer) -> None:
        from scipy.sparse import vstack
        from sklearn.datasets import load_svmlight_file

        dense = None if contents.sparse else out.create("X", (contents.rows, contents.features), contents.dtype)
        blocks, labels, rows = [], [np.empty(0)], 0
        with (bz2.open if paths[0].suffix == ".bz2" else open)(paths[0], "rb") as file:
            while lines := list(islice(file, _LINES)):
                text = io.BytesIO(b"".join(lines))
                X, y = load_svmlight_file(text, n_features=contents.features, dtype=contents.dtype, zero_based=False)
                if dense is None:
                    blocks.append(X)
                else:
                    X.toarray(out=dense[rows : rows + len(y)])
                labels.append(y)
                rows += len(y)
        y = np.concatenate(labels)
        if (unknown := y[~np.isin(y, self.labels)]).size:
            raise ValueError(f"the label {unknown[0]:g} is none of {', '.join(f'{label:g}' for label in self.labels)}")
        if dense is None:
            out.save("X", vstack(blocks, format="csr"))
        out.save("y", np.argmax(y[:, None] == np.asarray(self.labels, float), axis=1))


@dataclass(frozen=True, kw_only=True)
class Svmlight(CustomReader):
    """LIBSVM text, ``label index:value ...`` with indices from 1, plain, .gz or .bz2; kept as a sparse matrix."""

    name = "svmlight"
    endings = (".libsvm", ".svmlight", ".svm")

    def load(self, paths: Sequence[Path]) -> Samples:
        from scipy.sparse import vstack
        from sklearn.datasets import load_svmlight_files

        try:
            parts = load_svmlight_files(list(map(str, paths)), zero_based=False)
        except (ValueError, OverflowError, EOFError, OSError) as error:
            raise UserError(f"{paths[0]}: is not LIBSVM text: {' '.join(str(error).split())}") from None
        X, y = vstack(parts[::2], format="csr"), np.concatenate(parts[1::2])
        return Samples(X=X, y=y, test=np.arange(len(y)) >= len(parts[1]) if len(paths) > 1 else None)
