from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fedatlas.data.dataset import Contents
from fedatlas.data.errors import raw_file_error
from fedatlas.data.readers.base import Reader, Writer
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class Table(Reader):
    """A table in text, with the label in the first column and the features in the others."""

    name = "table"

    delimiter: str = option(",", doc="what stands between two columns")

    def read(self, paths: Sequence[Path], contents: Contents, out: Writer) -> None:
        (path,) = paths
        try:
            table = np.loadtxt(path, delimiter=self.delimiter, ndmin=2)
        except ValueError as error:
            raise raw_file_error(path, f"is not a table of numbers ({error})") from error
        out.save("X", table[:, 1:].astype(contents.dtype))
        out.save("y", table[:, 0].astype(np.int64))
