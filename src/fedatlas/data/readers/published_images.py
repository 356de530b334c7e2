"""Published sets of images: MNIST, CIFAR, SVHN, archives of image folders, and JPEG copies.

Archives are read in memory and never extracted.
"""

import gzip
import io
import pickle
import re
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np

from fedatlas.data.dataset import Contents
from fedatlas.data.readers.base import Reader, Writer
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class Idx(Reader):
    """MNIST's four idx files: training images, training labels, test images, test labels."""

    name = "idx"

    def read(self, paths: Sequence[Path], contents: Contents, out: Writer) -> None:
        arrays = []
        for path, dimensions in zip(paths, (3, 1, 3, 1), strict=True):
            header = 4 + 4 * dimensions  # a magic number and the lengths of the dimensions, of four bytes each
            with gzip.open(path) as stream:
                arrays.append(np.frombuffer(stream.read(), np.uint8, offset=header))
        for suffix, start in (("", 0), ("_test", 2)):
            out.save(f"X{suffix}", arrays[start].reshape(-1, *contents.shape))
            out.save(f"y{suffix}", arrays[start + 1].astype(np.int64))


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


@dataclass(frozen=True, kw_only=True)
class Mat(Reader):
    """SVHN's two MATLAB files: training part, test part."""

    name = "mat"

    def read(self, paths: Sequence[Path], contents: Contents, out: Writer) -> None:
        from scipy.io import loadmat

        for suffix, path in zip(("", "_test"), paths, strict=True):
            arrays = loadmat(path, variable_names=("X", "y"))
            images = arrays["X"].transpose(3, 2, 0, 1)
            out.create(f"X{suffix}", images.shape, "uint8")[:] = images
            out.save(f"y{suffix}", arrays["y"].ravel().astype(np.int64) % 10)  # the digit 0 has label 10


@dataclass(frozen=True, kw_only=True)
class Folders(Reader):
    """An archive of image folders. Images come in the order of their names, classes in the order of theirs."""

    name = "folders"

    train: str = option(doc="pattern of the names of training images, whose group is the class")
    test: str = option(doc="pattern of the names of test images, whose group is the class, or the image's own name")
    annotations: str | None = option(None, doc="pattern of the member that lists the classes of the test images")

    def read(self, paths: Sequence[Path], contents: Contents, out: Writer) -> None:
        (path,) = paths
        patterns = {"": self.train, "_test": self.test}
        arrays = {
            suffix: out.create(f"X{suffix}", (rows, *contents.shape), "uint8")
            for suffix, rows in (("", contents.rows), ("_test", contents.test_rows))
        }
        entries: dict[str, list[tuple[str, str]]] = {"": [], "_test": []}  # names and classes, in the archive's order
        classes: dict[str, str] = {}
        for name, content in members(path):
            if self.annotations and _matches(self.annotations, name):
                classes = dict(line.split("\t")[:2] for line in content().decode().splitlines())
            for suffix, pattern in patterns.items():
                if match := _matches(pattern, name):
                    arrays[suffix][len(entries[suffix])] = _decode(content())
                    entries[suffix].append((name, match[1]))
        if self.annotations:
            entries["_test"] = [(name, classes[image]) for name, image in entries["_test"]]
        numbers = {label: number for number, label in enumerate(sorted({label for _, label in entries[""]}))}
        for suffix, images in entries.items():
            order = sorted(range(len(images)), key=images.__getitem__)
            arrays[suffix][: len(order)] = arrays[suffix][order]
            out.save(f"y{suffix}", np.array([numbers[images[index][1]] for index in order], np.int64))


@dataclass(frozen=True, kw_only=True)
class Jpeg(Reader):
    """JPEG streams of both parts in one .npz file, a lossy substitute for official files.

    For ``part`` in train and test it holds ``jpeg_part`` (bytes), ``offset_part`` (n+1,) and ``y_part`` (n,). Image i
    is ``jpeg_part[offset_part[i]:offset_part[i+1]]``.
    """

    name = "jpeg"

    def read(self, paths: Sequence[Path], contents: Contents, out: Writer) -> None:
        (path,) = paths
        with np.load(path, allow_pickle=False) as archive:
            for suffix, part in (("", "train"), ("_test", "test")):
                stream, offsets = archive[f"jpeg_{part}"], archive[f"offset_{part}"]
                X = out.create(f"X{suffix}", (len(offsets) - 1, *contents.shape), "uint8")
                for i, (start, end) in enumerate(pairwise(offsets.tolist())):
                    X[i] = _decode(stream[start:end].tobytes())
                out.save(f"y{suffix}", archive[f"y_{part}"].astype(np.int64))


def members(path: Path) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Yield the name of each file in an archive, and a function that returns its bytes until the next name is drawn."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            for entry in sorted(archive.infolist(), key=lambda entry: entry.filename):
                if not entry.is_dir():
                    yield entry.filename, partial(archive.read, entry)
        return
    with tarfile.open(path, "r|gz") as stream:  # in one pass: going back would decompress again
        for member in stream:
            if (file := stream.extractfile(member)) is not None:
                yield member.name, file.read


def _matches(pattern: str, name: str) -> re.Match[str] | None:
    """Return the match of a pattern with the name of a member below any folder of the archive."""
    return re.fullmatch(rf"(?:.*/)?{pattern}", name)


def _decode(content: bytes) -> np.ndarray:
    """Return the RGB pixels of an encoded image, uint8 (channels, height, width)."""
    from PIL import Image

    with Image.open(io.BytesIO(content)) as image:
        return np.asarray(image.convert("RGB")).transpose(2, 0, 1)
