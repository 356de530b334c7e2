"""Images kept as JPEG streams, one after another in one uint8 array: a lossy stand-in for official files.

The .npz holds, for ``part`` in train and test, ``jpeg_part`` (bytes), ``offset_part`` (n+1,) and ``y_part`` (n,). Image
i is ``jpeg_part[offset_part[i]:offset_part[i+1]]``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fedatlas.data.dataset import Contents
from fedatlas.data.errors import raw_file_error
from fedatlas.data.readers.base import Reader, Writer
from fedatlas.data.readers.images import Undecodable, decode
from fedatlas.io import npz


@dataclass(frozen=True, kw_only=True)
class Jpeg(Reader):
    """JPEG streams of both parts in one .npz file."""

    name = "jpeg"

    def read(self, paths: Sequence[Path], contents: Contents, out: Writer) -> None:
        (path,) = paths
        for suffix, part, rows in (("", "train", contents.rows), ("_test", "test", contents.test_rows)):
            stream, offsets, y = streams(path, part, rows, contents.unpacked_limit)
            X = out.create(f"X{suffix}", (rows, *contents.shape), "uint8")
            for i in range(rows):
                try:
                    X[i] = decode(stream[offsets[i] : offsets[i + 1]].tobytes(), contents.shape, ("JPEG",))
                except Undecodable as error:
                    raise raw_file_error(path, f"{part} image {i:,} {error}") from error
            out.save(f"y{suffix}", y)


def streams(path: Path, part: str, rows: int, limit: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The bytes, offsets (rows + 1,) and labels (rows,) of a part, checked against one another.

    part: ``train`` or ``test``. limit: bytes that the file may unpack to. Raises UserError if they do not fit.
    """
    try:
        npz.check(path, limit)
        with np.load(path, allow_pickle=False) as content:
            stream, offsets, y = (content[f"{key}_{part}"] for key in ("jpeg", "offset", "y"))
    except Exception as error:  # NumPy's and zipfile's parsers raise whatever they stumble over
        raise raw_file_error(path, f"is not an archive of JPEG streams ({error})") from error
    if stream.dtype != np.uint8 or stream.ndim != 1 or {offsets.dtype.kind, y.dtype.kind} - set("iu"):
        raise raw_file_error(path, f"the {part} arrays are not bytes, offsets and integer labels")
    if offsets.shape != (rows + 1,) or y.shape != (rows,):
        raise raw_file_error(path, f"does not hold {rows:,} {part} images with labels")
    offsets = offsets.astype(np.int64)
    if offsets[0] != 0 or offsets[-1] != len(stream) or (np.diff(offsets) <= 0).any():
        raise raw_file_error(path, f"the offsets of the {part} images do not increase from 0 to {len(stream):,}")
    return stream, offsets, y.astype(np.int64)
