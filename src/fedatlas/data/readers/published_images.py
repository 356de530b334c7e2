"""Published sets of images: MNIST, CIFAR, SVHN, archives of image folders, and JPEG copies."""

import gzip
import io
import pickle
import shutil
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

import numpy as np

from fedatlas.data.dataset import Contents
from fedatlas.data.readers import Reader, Writer
from fedatlas.registry.options import option

IMAGES = (".jpeg", ".jpg", ".png")  # endings of the images in archives


@dataclass(frozen=True, kw_only=True)
class Idx(Reader):
    """MNIST's four idx files: training images, training labels, test images, test labels."""

    name = "idx"

    def read(self, paths: Sequence[Path], contents: Contents, out: Writer) -> None:
        arrays = []
        for path, dimensions in zip(paths, (3, 1, 3, 1), strict=True):
            header = 4 + 4 * dimensions  # a magic number and the lengths of the dimensions, of four bytes each
            arrays.append(np.frombuffer(gzip.decompress(path.read_bytes()), np.uint8, offset=header))
        for suffix, start in (("", 0), ("_test", 2)):
            out.save(f"X{suffix}", arrays[start].reshape(-1, *contents.shape))
            out.save(f"y{suffix}", arrays[start + 1].astype(np.int64))


@dataclass(frozen=True, kw_only=True)
class Cifar(Reader):
    """CIFAR's Python archive: a tar.gz of pickled batches, which can run any code: give its checksum."""

    name = "cifar"

    train: tuple[str, ...] = option(doc="members that hold the training images, in order")
    test: tuple[str, ...] = option(doc="members that hold the test images, in order")
    labels: str = option(doc="key of a batch under which its labels are")

    def read(self, paths: Sequence[Path], contents: Contents, out: Writer) -> None:
        (path,) = paths
        batches = {}
        with tarfile.open(path, "r|gz") as archive:  # in one pass: going back would decompress again
            for member in archive:
                if member.name in (*self.train, *self.test) and (batch := archive.extractfile(member)):
                    batches[member.name] = pickle.load(batch, encoding="bytes")
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
    """An archive of image folders. Images come in the order of their names, classes in the order of theirs.

    The archive is unpacked beside the arrays, and removed after. The class of an image is the name of its folder in
    ``train`` and ``test``.
    """

    name = "folders"

    train: str = option(doc="folder of the training images, which has a folder for each class")
    test: str = option(doc="folder of the test images, which has a folder for each class, or all images")
    annotations: str | None = option(None, doc="file that lists the class of each test image, where one folder has all")

    def read(self, paths: Sequence[Path], contents: Contents, out: Writer) -> None:
        with TemporaryDirectory(dir=out.folder) as name:
            shutil.unpack_archive(paths[0], name, filter=None if paths[0].suffix == ".zip" else "data")
            root = Path(name)
            names = sorted(folder.name for folder in (root / self.train).iterdir())
            classes = {}  # of the test images, by their names
            if self.annotations:
                lines = (root / self.annotations).read_text().splitlines()
                classes = dict(line.split("\t")[:2] for line in lines)
            for suffix, part, rows in (("", self.train, contents.rows), ("_test", self.test, contents.test_rows)):
                images = sorted(path for path in (root / part).rglob("*") if path.suffix.lower() in IMAGES)
                X = out.create(f"X{suffix}", (rows, *contents.shape), "uint8")
                for pixels, path in zip(X, images, strict=True):
                    pixels[:] = _decode(path)
                labels = [classes.get(path.name) or path.relative_to(root / part).parts[0] for path in images]
                out.save(f"y{suffix}", np.array([names.index(label) for label in labels], np.int64))


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
                    X[i] = _decode(io.BytesIO(stream[start:end]))
                out.save(f"y{suffix}", archive[f"y_{part}"].astype(np.int64))


def _decode(image: Path | IO[bytes]) -> np.ndarray:
    """Return the RGB pixels of an encoded image, uint8 (channels, height, width)."""
    from PIL import Image

    with Image.open(image) as opened:
        return np.asarray(opened.convert("RGB")).transpose(2, 0, 1)
