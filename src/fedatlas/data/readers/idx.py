"""MNIST's idx files: a big-endian magic number, the dimensions, then bytes."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fedatlas.data.compression import open_compressed
from fedatlas.data.dataset import Contents
from fedatlas.data.errors import raw_file_error
from fedatlas.data.readers.base import Reader, Writer

_UNSIGNED_BYTES = 0x08


@dataclass(frozen=True, kw_only=True)
class Idx(Reader):
    """MNIST's four idx files: training images, training labels, test images, test labels."""

    name = "idx"

    def read(self, paths: Sequence[Path], contents: Contents, out: Writer) -> None:
        size = contents.shape[1:]
        train_images, train_labels, test_images, test_labels = paths
        for suffix, rows, images, labels in (
            ("", contents.rows, train_images, train_labels),
            ("_test", contents.test_rows, test_images, test_labels),
        ):
            out.save(f"X{suffix}", array(images, (rows, *size)).reshape(rows, *contents.shape))
            out.save(f"y{suffix}", array(labels, (rows,)).astype(np.int64))


def array(path: Path, shape: tuple[int, ...]) -> np.ndarray:
    """The uint8 array of an idx file. Raises UserError if it has another shape, or is damaged."""
    with open_compressed(path) as stream:
        header = stream.read(4 + 4 * len(shape))
        if len(header) < 4 + 4 * len(shape):
            raise raw_file_error(path, "ends inside its header")
        magic, *found = struct.unpack(f">{1 + len(shape)}I", header)
        if magic != _UNSIGNED_BYTES << 8 | len(shape):
            raise raw_file_error(
                path, f"starts with {magic:#010x}, not with the magic number of {len(shape)}-dimensional bytes"
            )
        if tuple(found) != shape:
            raise raw_file_error(path, f"says it holds {_times(found)} bytes, expected {_times(shape)}")
        size = int(np.prod(shape))
        data = stream.read(size + 1)
    if len(data) != size:
        raise raw_file_error(path, f"holds {'more' if len(data) > size else f'{len(data):,}'} bytes, expected {size:,}")
    return np.frombuffer(data, np.uint8).reshape(shape)


def _times(shape: Sequence[int]) -> str:
    return " x ".join(f"{length:,}" for length in shape)
