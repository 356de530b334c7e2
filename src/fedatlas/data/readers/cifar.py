"""CIFAR's Python archives: a tar.gz of pickled dictionaries."""

import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fedatlas.data.dataset import Contents
from fedatlas.data.readers.archives import members
from fedatlas.data.readers.base import Reader, Writer
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class Cifar(Reader):
    """CIFAR's Python archive: a tar.gz whose members are pickled batches of images."""

    name = "cifar"
    needs_checksum = True  # a pickle can run any code

    train: tuple[str, ...] = option(doc="members that hold the training images, in order")
    test: tuple[str, ...] = option(doc="members that hold the test images, in order")
    labels: str = option(doc="key of a batch under which its labels are")

    def read(self, paths: Sequence[Path], contents: Contents, out: Writer) -> None:
        (path,) = paths
        batches = {}
        for member, content in members(path):
            if member in (*self.train, *self.test):
                batches[member] = pickle.loads(content(), encoding="bytes")
        for suffix, names in (("", self.train), ("_test", self.test)):
            X = np.concatenate([batches[name][b"data"] for name in names])
            y = np.concatenate([batches[name][self.labels.encode()] for name in names])
            out.save(f"X{suffix}", X.reshape(-1, *contents.shape))
            out.save(f"y{suffix}", y.astype(np.int64))
