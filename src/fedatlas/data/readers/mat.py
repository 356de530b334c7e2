"""SVHN's MATLAB files: X (height, width, channels, n) and y (n, 1) with the digit 0 as label 10.

They are of MATLAB's version 5. SciPy's reader of this format can crash on a damaged file, so its few rules are here: a
header of 128 bytes, then elements of a type, a size and that many bytes; a matrix is an element that holds elements.
"""

import math
import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fedatlas.data.dataset import Contents
from fedatlas.data.errors import raw_file_error
from fedatlas.data.readers.base import Reader, Writer

_HEADER, _MATRIX, _COMPRESSED = 128, 14, 15
_ORDERS = {b"IM": "<", b"MI": ">"}
_TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}  # as stored
_CLASSES = {6: "f8", 7: "f4", 8: "i1", 9: "u1", 10: "i2", 11: "u2", 12: "i4", 13: "u4", 14: "i8", 15: "u8"}  # as meant
_COMPLEX = 1 << 11


@dataclass(frozen=True, kw_only=True)
class Mat(Reader):
    """SVHN's two MATLAB files: training part, test part."""

    name = "mat"

    def read(self, paths: Sequence[Path], contents: Contents, out: Writer) -> None:
        for suffix, rows, path in zip(("", "_test"), (contents.rows, contents.test_rows), paths, strict=True):
            X, y = arrays(path, rows, contents.shape, contents.unpacked_limit)
            target = out.create(f"X{suffix}", (rows, *contents.shape), "uint8")
            target[:] = X.transpose(3, 2, 0, 1)
            out.save(f"y{suffix}", y.astype(np.int64).ravel() % 10)


def arrays(path: Path, rows: int, shape: Sequence[int], limit: int) -> tuple[np.ndarray, np.ndarray]:
    """X (height, width, channels, rows) and y (rows, 1) of a file.

    shape: of an image, (channels, height, width). limit: bytes that an array may have. Raises UserError if the file is
    damaged, or another one.
    """
    channels, height, width = shape
    try:
        found = dict(_variables(path, limit))
        for name, size in {"X": (height, width, channels, rows), "y": (rows, 1)}.items():
            if name not in found or found[name].shape != size:
                raise ValueError(f"{name} is {found[name].shape if name in found else 'missing'}, expected {size}")
    except (OSError, ValueError, IndexError, KeyError, struct.error, zlib.error) as error:
        raise raw_file_error(path, f"is not SVHN's MATLAB file ({error})") from error
    X, y = found["X"], found["y"]
    if X.dtype != np.uint8 or not np.isin(y, range(1, 11)).all():
        raise raw_file_error(path, "does not hold bytes with labels 1..10")
    return X, y


def _variables(path: Path, limit: int) -> Iterator[tuple[str, np.ndarray]]:
    """Names and values of a file's arrays of real numbers."""
    with open(path, "rb") as file:
        order = _ORDERS[file.read(_HEADER)[_HEADER - 2 :]]
        while tag := file.read(8):
            kind, size = struct.unpack(f"{order}II", tag)
            if size > limit:
                raise ValueError(f"it holds {size:,} bytes in one piece, more than {limit:,}")
            content = file.read(size)
            if kind == _COMPRESSED:
                content = zlib.decompressobj().decompress(content, limit)
                kind, size = struct.unpack(f"{order}II", content[:8])
                content = content[8:]
            if kind != _MATRIX or len(content) != size:
                raise ValueError(f"it breaks off, or its part of type {kind} is no matrix")
            yield from _matrix(content, order)


def _matrix(content: bytes, order: str) -> Iterator[tuple[str, np.ndarray]]:
    """Name and value of a matrix; nothing if it does not hold real numbers."""
    (_, flags), (_, sizes), (_, name), (stored, values), *_ = _elements(content, order)
    kind = struct.unpack_from(f"{order}I", flags)[0]
    if kind & 0xFF not in _CLASSES or kind & _COMPLEX:
        return
    shape = np.frombuffer(sizes, f"{order}i4").tolist()
    flat = np.frombuffer(values, f"{order}{_TYPES[stored]}")
    if min(shape) < 0 or flat.size != math.prod(shape):
        raise ValueError(f"it has {flat.size:,} numbers of an array {tuple(shape)}")
    yield name.decode("latin-1"), flat.astype(_CLASSES[kind & 0xFF], copy=False).reshape(shape, order="F")


def _elements(content: bytes, order: str) -> Iterator[tuple[int, bytes]]:
    """Types and bytes of the elements of a matrix. Those of up to 4 bytes may share 8 bytes with type and size."""
    at = 0
    while at < len(content):
        kind, size = struct.unpack_from(f"{order}II", content, at)
        first, step = at + 8, 8 + -(-size // 8) * 8
        if kind >> 16:
            kind, size, first, step = kind & 0xFFFF, kind >> 16, at + 4, 8
        if first + size > len(content) or (first == at + 4 and size > 4):
            raise ValueError("an element reaches beyond its matrix")
        yield kind, content[first : first + size]
        at += step
