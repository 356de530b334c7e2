"""Archives of image folders, one folder per class: CINIC-10 (tar.gz) and Tiny-ImageNet (zip)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fedatlas.data.dataset import Contents
from fedatlas.data.readers.archives import decode_image, members
from fedatlas.data.readers.base import Reader, Writer
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class Folders(Reader):
    """An archive of image folders. Images come in the order of their names, classes in the order of theirs."""

    name = "folders"

    train: str = option(doc="pattern of the names of training images, whose group is the class")
    test: str = option(doc="pattern of the names of test images, whose group is the class, or the image's own name")
    annotations: str | None = option(None, doc="pattern of the member that lists the classes of the test images")

    def read(self, paths: Sequence[Path], contents: Contents, out: Writer) -> None:
        (path,) = paths
        train = _Part(self.train, out.create("X", (contents.rows, *contents.shape), "uint8"))
        test = _Part(self.test, out.create("X_test", (contents.test_rows, *contents.shape), "uint8"))
        annotations = _pattern(self.annotations) if self.annotations else None
        class_of: dict[str, str] = {}
        for name, content in members(path):
            if annotations is not None and annotations.fullmatch(name):
                class_of = dict(line.split("\t")[:2] for line in content().decode().splitlines())
            for part in (train, test):
                if match := part.pattern.fullmatch(name):
                    part.add(name, match[1], content())
        if annotations is not None:
            test.labels = [class_of[image] for image in test.labels]
        numbers = {label: number for number, label in enumerate(sorted(set(train.labels)))}
        for suffix, part in (("", train), ("_test", test)):
            out.save(f"y{suffix}", np.array([numbers[label] for label in part.sort()], np.int64))


class _Part:
    """The images of a part, first in the order of the archive."""

    def __init__(self, pattern: str, X: np.ndarray) -> None:
        self.pattern, self.X = _pattern(pattern), X
        self.names: list[str] = []
        self.labels: list[str] = []

    def add(self, name: str, label: str, content: bytes) -> None:
        self.X[len(self.names)] = decode_image(content)
        self.names.append(name)
        self.labels.append(label)

    def sort(self) -> list[str]:
        """Bring the images into the order of their names, and return their labels in this order."""
        order = sorted(range(len(self.names)), key=self.names.__getitem__)
        if order != list(range(len(order))):
            self.X[:] = self.X[order]
        return [self.labels[i] for i in order]


def _pattern(pattern: str) -> re.Pattern[str]:
    """Return a pattern of names below any folder of the archive."""
    return re.compile(rf"(?:.*/)?{pattern}")
