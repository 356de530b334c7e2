"""Archives of image folders, one folder per class: CINIC-10 (tar.gz) and Tiny-ImageNet (zip)."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fedatlas.data.dataset import Contents
from fedatlas.data.errors import raw_file_error
from fedatlas.data.readers.archives import members
from fedatlas.data.readers.base import Reader, Writer
from fedatlas.data.readers.images import Undecodable, decode
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class Folders(Reader):
    """An archive of image folders. Images come in the order of their names, classes in the order of theirs."""

    name = "folders"

    train: str = option(doc="pattern of the names of training images, whose group is the class")
    test: str = option(doc="pattern of the names of test images, whose group is the class, or the image's own name")
    annotations: str | None = option(None, doc="pattern of the member that lists the classes of the test images")
    formats: tuple[str, ...] = option(doc="image formats, as Pillow calls them")

    def read(self, paths: Sequence[Path], contents: Contents, out: Writer) -> None:
        (path,) = paths
        splits = {
            split: _Split(out.create(name, (rows, *contents.shape), "uint8"))
            for split, name, rows in (("train", "X", contents.rows), ("test", "X_test", contents.test_rows))
        }
        listed = self._collect(path, contents, splits)
        classes = sorted(set(splits["train"].labels))
        index: dict[str | None, int] = {label: number for number, label in enumerate(classes)}
        for suffix, (key, split) in zip(("", "_test"), splits.items(), strict=True):
            if len(split.names) < len(split.X):
                raise raw_file_error(path, f"holds {len(split.names):,} {key} images, expected {len(split.X):,}")
            labels: list[str | None] = [*split.labels]
            if key == "test" and self.annotations is not None:
                labels = [listed.get(image) for image in split.labels]
            if strange := set(labels) - set(classes):
                raise raw_file_error(
                    path, f"has {key} images of the class {strange.pop()!r}, of which no training image is"
                )
            order = sorted(range(len(labels)), key=split.names.__getitem__)
            if order != list(range(len(order))):
                split.X[:] = split.X[order]
            out.save(f"y{suffix}", np.array([index[labels[i]] for i in order], np.int64))

    def _collect(self, path: Path, contents: Contents, splits: "Mapping[str, _Split]") -> dict[str, str]:
        """Fill the parts with the archive's images; returns the classes that the annotations list."""
        named = {"train": self.train, "test": self.test, "annotations": self.annotations}
        patterns = {key: re.compile(rf"(?:.*/)?{pattern}") for key, pattern in named.items() if pattern is not None}
        listed: dict[str, str] = {}
        with members(path, contents.unpacked_limit) as entries:
            for name, content in entries:
                for key, pattern in patterns.items():
                    if not (match := pattern.fullmatch(name)):
                        continue
                    if key == "annotations":
                        listed = _annotations(path, name, content())
                        continue
                    split = splits[key]
                    try:
                        split.add(name, match[1], decode(content(), contents.shape, self.formats))
                    except Undecodable as error:
                        raise raw_file_error(path, f"its member {name!r} {error}") from error
                    except IndexError:
                        raise raw_file_error(
                            path, f"holds more {key} images than the {len(split.X):,} expected"
                        ) from None
        return listed


class _Split:
    """The images of a part, in the order in which the archive gives them."""

    def __init__(self, X: np.ndarray) -> None:
        self.X = X
        self.names: list[str] = []
        self.labels: list[str] = []

    def add(self, name: str, label: str, image: np.ndarray) -> None:
        self.X[len(self.names)] = image
        self.names.append(name)
        self.labels.append(label)


def _annotations(path: Path, name: str, content: bytes) -> dict[str, str]:
    """The classes of images by their names, from lines ``image<tab>class<tab>...``."""
    rows = [line.split("\t") for line in content.decode("utf-8", "replace").splitlines() if line]
    if any(len(row) < 2 for row in rows):
        raise raw_file_error(path, f"its member {name!r} is not a table of images and classes")
    return {row[0]: row[1] for row in rows}
