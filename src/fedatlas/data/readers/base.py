"""What a reader is: a kind whose options say how the files of one format become arrays."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fedatlas.data.contents import Contents
from fedatlas.data.writer import Writer
from fedatlas.registry.kinds import Kind


@dataclass(frozen=True, kw_only=True)
class Reader(Kind):
    """Base of all readers."""

    def read(self, paths: Sequence[Path], contents: Contents, out: Writer) -> None:
        """Read raw files and write their arrays.

        paths: of the form's files, in its order. contents: what must come out. out: takes the samples ``X`` and labels
        ``y`` and, where there is a test part, ``X_test`` and ``y_test``; labels are int64. Where the data name clients,
        also ``owner``, the client of each training row, int64 from 0 on. Raises UserError that names the file, and for
        text the line, where something is wrong with it.
        """
        raise NotImplementedError
