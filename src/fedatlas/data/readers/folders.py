"""Archives of image folders, one folder per class: CINIC-10 (tar.gz) and Tiny-ImageNet (zip)."""

import re

import numpy as np

from fedatlas.data.hints import broken
from fedatlas.data.readers.archives import members
from fedatlas.data.readers.images import Undecodable, decode


def read(paths, source, options, out) -> None:
    """Images in the order of their names, classes in the order of theirs.

    ``options["train"]`` and ``["test"]`` are patterns of member names whose group is the class; with
    ``["annotations"]`` the group of ``["test"]`` is an image's name, whose class that member lists.
    """
    (path,) = paths
    patterns = {
        key: re.compile(rf"(?:.*/)?{options[key]}") for key in ("train", "test", "annotations") if key in options
    }
    splits = {
        split: _Split(out.create(name, (rows, *source.shape), "uint8"))
        for split, name, rows in (("train", "X", source.rows), ("test", "X_test", source.test_rows))
    }
    listed = None
    with members(path, source.unpacked_limit) as entries:
        for name, content in entries:
            for key, pattern in patterns.items():
                if not (match := pattern.fullmatch(name)):
                    continue
                if key == "annotations":
                    listed = _annotations(path, name, content())
                    continue
                try:
                    splits[key].add(name, match[1], decode(content(), source.shape, options["formats"]))
                except Undecodable as error:
                    raise broken(path, f"its member {name!r} {error}") from error
                except IndexError:
                    raise broken(path, f"holds more {key} images than the {len(splits[key].X):,} expected") from None
    classes = sorted(set(splits["train"].labels))
    for suffix, (key, split) in zip(("", "_test"), splits.items(), strict=True):
        if len(split.names) < len(split.X):
            raise broken(path, f"holds {len(split.names):,} {key} images, expected {len(split.X):,}")
        labels = split.labels
        if key == "test" and "annotations" in patterns:
            labels = [(listed or {}).get(image) for image in labels]
        if strange := set(labels) - set(classes):
            raise broken(path, f"has {key} images of the class {strange.pop()!r}, of which no training image is")
        order = sorted(range(len(labels)), key=split.names.__getitem__)
        if order != list(range(len(order))):
            split.X[:] = split.X[order]
        index = {label: number for number, label in enumerate(classes)}
        out.save(f"y{suffix}", np.array([index[labels[i]] for i in order], np.int64))


class _Split:
    def __init__(self, X):
        self.X, self.names, self.labels = X, [], []

    def add(self, name: str, label: str, image: np.ndarray) -> None:
        self.X[len(self.names)] = image
        self.names.append(name)
        self.labels.append(label)


def _annotations(path, name: str, content: bytes) -> dict[str, str]:
    """Image name to class, from lines ``image<tab>class<tab>...``."""
    rows = [line.split("\t") for line in content.decode("utf-8", "replace").splitlines() if line]
    if any(len(row) < 2 for row in rows):
        raise broken(path, f"its member {name!r} is not a table of images and classes")
    return {row[0]: row[1] for row in rows}
