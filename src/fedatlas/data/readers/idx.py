"""MNIST's idx files: a big-endian magic number, the dimensions, then bytes."""

import struct
from pathlib import Path

import numpy as np

from fedatlas.data.hints import broken
from fedatlas.data.readers.compression import opened

_UNSIGNED_BYTES = 0x08


def read(paths, source, options, out) -> None:
    """Training images, training labels, test images, test labels."""
    size = source.shape[1:]
    for suffix, rows, images, labels in (
        ("", source.rows, *paths[:2]),
        ("_test", source.test_rows, *paths[2:]),
    ):
        out.save(f"X{suffix}", array(images, (rows, *size)).reshape(rows, *source.shape))
        out.save(f"y{suffix}", array(labels, (rows,)).astype(np.int64))


def array(path: Path, shape: tuple[int, ...]) -> np.ndarray:
    """The uint8 array of an idx file, which must have the given shape."""
    with opened(path) as stream:
        header = stream.read(4 + 4 * len(shape))
        if len(header) < 4 + 4 * len(shape):
            raise broken(path, "ends inside its header")
        magic, *found = struct.unpack(f">{1 + len(shape)}I", header)
        if magic != _UNSIGNED_BYTES << 8 | len(shape):
            raise broken(
                path, f"starts with {magic:#010x}, not with the magic number of {len(shape)}-dimensional bytes"
            )
        if tuple(found) != shape:
            raise broken(path, f"says it holds {_times(found)} bytes, expected {_times(shape)}")
        size = int(np.prod(shape))
        data = stream.read(size + 1)
    if len(data) != size:
        raise broken(path, f"holds {'more' if len(data) > size else f'{len(data):,}'} bytes, expected {size:,}")
    return np.frombuffer(data, np.uint8).reshape(shape)


def _times(shape) -> str:
    return " x ".join(f"{length:,}" for length in shape)
