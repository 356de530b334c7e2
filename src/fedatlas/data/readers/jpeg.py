"""Images kept as JPEG streams, end to end in one uint8 array: a lossy stand-in.

The .npz holds, for ``part`` in train and test, ``jpeg_part`` (bytes), ``offset_part`` (n+1,) and ``y_part`` (n,): image
i is ``jpeg_part[offset_part[i]:offset_part[i+1]]``.
"""

import zipfile
from pathlib import Path

import numpy as np

from fedatlas.data.hints import broken
from fedatlas.data.readers.images import Undecodable, decode


def read(paths, source, options, out) -> None:
    """One .npz file."""
    (path,) = paths
    for suffix, part, rows in (("", "train", source.rows), ("_test", "test", source.test_rows)):
        stream, offsets, y = streams(path, part, rows, source.unpacked_limit)
        X = out.create(f"X{suffix}", (rows, *source.shape), "uint8")
        for i in range(rows):
            try:
                X[i] = decode(stream[offsets[i] : offsets[i + 1]].tobytes(), source.shape, ("JPEG",))
            except Undecodable as error:
                raise broken(path, f"{part} image {i:,} {error}") from error
        out.save(f"y{suffix}", y)


def streams(path: Path, part: str, rows: int, limit: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The bytes, offsets and labels of one part, checked against one another."""
    try:
        with zipfile.ZipFile(path) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > limit:
                raise ValueError(f"it unpacks to more than {limit:,} bytes")
        with np.load(path, allow_pickle=False) as content:
            stream, offsets, y = (content[f"{key}_{part}"] for key in ("jpeg", "offset", "y"))
    except Exception as error:  # NumPy's and zipfile's parsers raise whatever they stumble over
        raise broken(path, f"is not an archive of JPEG streams ({error})") from error
    if stream.dtype != np.uint8 or stream.ndim != 1 or {offsets.dtype.kind, y.dtype.kind} - set("iu"):
        raise broken(path, f"the {part} arrays are not bytes, offsets and integer labels")
    if offsets.shape != (rows + 1,) or y.shape != (rows,):
        raise broken(path, f"does not hold {rows:,} {part} images with labels")
    offsets = offsets.astype(np.int64)
    if offsets[0] != 0 or offsets[-1] != len(stream) or (np.diff(offsets) <= 0).any():
        raise broken(path, f"the offsets of the {part} images do not increase from 0 to {len(stream):,}")
    return stream, offsets, y.astype(np.int64)
