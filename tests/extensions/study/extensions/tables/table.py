from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fedatlas.data.dataset import Contents
from fedatlas.data.readers import Reader, Writer
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class Table(Reader):
    """A table in text, with the label in the first column and the features in the others."""

    name = "table"

    delimiter: str = option(",", doc="what stands between two columns")

    def read(self, paths: Sequence[Path], contents: Contents, out: Writer) -> None:
        (path,) = paths
        table = np.loadtxt(path, delimiter=self.delimiter, ndmin=2)
        out.save("X", table[:, 1:].astype(contents.dtype))
        out.save("y", table[:, 0].astype(np.int64))
