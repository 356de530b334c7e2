"""Data sets that come with scikit-learn, with a fixed split."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from fedatlas.data.dataset import Contents
from fedatlas.data.readers import Reader, Writer, draw_test_rows
from fedatlas.registry.options import option

_TEST_SHARE = 0.2


@dataclass(frozen=True, kw_only=True)
class Embedded(Reader):
    """A set that scikit-learn bundles: pixels as bytes, other features standardised by the training part."""

    name = "embedded"

    bundle: Literal["breast_cancer", "digits"] = option(doc="name of the set in sklearn.datasets")

    def read(self, paths: Sequence[Path], contents: Contents, out: Writer) -> None:
        from sklearn import datasets

        bundle = getattr(datasets, f"load_{self.bundle}")()
        X, y = bundle.data, bundle.target.astype(np.int64)
        drawn = draw_test_rows(y, _TEST_SHARE, np.random.SeedSequence(0))
        train, test = np.flatnonzero(~drawn), np.flatnonzero(drawn)
        if contents.dtype == "uint8":
            X = X.astype(np.uint8)
        else:
            X = (X - X[train].mean(axis=0)) / X[train].std(axis=0)
        for suffix, rows in (("", train), ("_test", test)):
            out.save(f"X{suffix}", X[rows].reshape(len(rows), *contents.shape))
            out.save(f"y{suffix}", y[rows])
