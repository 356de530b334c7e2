"""MNIST's idx files: a big-endian magic number, the lengths of the dimensions, then bytes."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fedatlas.data.compression import open_compressed
from fedatlas.data.dataset import Contents
from fedatlas.data.readers.base import Reader, Writer


@dataclass(frozen=True, kw_only=True)
class Idx(Reader):
    """MNIST's four idx files: training images, training labels, test images, test labels."""

    name = "idx"

    def read(self, paths: Sequence[Path], contents: Contents, out: Writer) -> None:
        train_images, train_labels, test_images, test_labels = paths
        for suffix, images, labels in (("", train_images, train_labels), ("_test", test_images, test_labels)):
            out.save(f"X{suffix}", _load(images, 3).reshape(-1, *contents.shape))
            out.save(f"y{suffix}", _load(labels, 1).astype(np.int64))


def _load(path: Path, dimensions: int) -> np.ndarray:
    """Return the bytes of an idx file after its header, uint8 (n,)."""
    with open_compressed(path) as stream:
        return np.frombuffer(stream.read(), np.uint8, offset=4 + 4 * dimensions)
