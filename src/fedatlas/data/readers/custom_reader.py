"""What readers of a person's own files share: classes, owners, the split into train and test, and how they are written.

A reader of own files is asked twice: when an experiment is read, for what the files hold (`OwnReader.survey`), and when
the data are prepared, for the arrays.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from fedatlas.data.dataset import DTYPES, Contents
from fedatlas.data.errors import custom_file_error
from fedatlas.data.readers.base import Reader, Writer
from fedatlas.errors import UserError
from fedatlas.registry.options import option

SHARE = 0.2  # of the rows of each class that test where nothing else is said
MOST_CLASSES = 10_000
_ROWS = 4096  # that are written at once
_STREAM = 0x5445_5354  # of the rows that test
_SHOWN = 20  # classes or clients that a note names


@dataclass(frozen=True, kw_only=True, eq=False)
class Samples:
    """What a reader finds in files.

    X: (n, d) numbers in single or double precision, dense or a CSR matrix, or uint8 images (n, channels, height,
    width); an array, or what has ``shape`` and ``dtype`` and gives an array of the rows that it is indexed by. y:
    labels (n,), whole numbers or text. owner: clients (n,), whole numbers or text, or None. test: whether a row tests
    (n,), or None where the files do not say. scale: the largest value of an image. note: what a reader of results
    should know.
    """

    X: Any
    y: np.ndarray
    owner: np.ndarray | None = None
    test: np.ndarray | None = None
    scale: float = 1.0
    note: str = ""


@dataclass(frozen=True)
class Survey:
    """What own files hold. clients: that own training rows, 0 where the files name none. note: for reports."""

    contents: Contents
    classes: tuple[str, ...] = field(repr=False)
    clients: int
    note: str


@dataclass(frozen=True, kw_only=True)
class CustomReader(Reader):
    """Base of the readers of own files.

    endings: of the names of files that the reader takes without being told; ``format`` names one of them without its
    dot, or the reader.
    """

    endings: ClassVar[tuple[str, ...]] = ()

    test_share: float | None = option(
        None,
        doc="share of the rows of each class that is held out to test; by default 0.2 where the data have no test part",
        low=0,
        below=1,
    )
    seed: int = option(0, doc="seed of the rows that test_share draws", low=0)
    standardise: bool = option(
        False, doc="whether features get zero mean and unit variance over the training rows; not of images"
    )

    def files(self) -> tuple[str, ...]:
        """Paths, as they were given, of files that are read besides the first."""
        return ()

    def fetch(self, folder: Path) -> Path | None:
        """The file of data that lie elsewhere, fetched into a folder if it is not there; None where a path is given."""
        return None

    @abstractmethod
    def load(self, paths: Sequence[Path]) -> Samples:
        """Read files.

        paths: of the file, of `files` and, where there is one, of the file whose rows test. Raises UserError that names
        the file, and for text the line and the column, where something is wrong with it.
        """

    def survey(self, paths: Sequence[Path]) -> Survey:
        """What files hold. paths: as of `load`. Raises UserError on any mistake in them."""
        return _Parts(self, paths).survey

    def read(self, paths: Sequence[Path], contents: Contents, out: Writer) -> None:
        parts = _Parts(self, paths)
        parts.write(out)


class _Parts:
    """The samples of files, split into train and test."""

    def __init__(self, reader: CustomReader, paths: Sequence[Path]) -> None:
        self.reader, self.path = reader, paths[0]
        self.samples = reader.load(paths)
        _check_form(reader, self.samples)
        if not len(self.samples.y):
            raise custom_file_error(self.path, "holds no rows")
        self.classes, self.y = _classes(self.path, self.samples.y)
        test, share = self._tested()
        self.train, self.test = np.flatnonzero(~test), np.flatnonzero(test)
        self.clients, self.owner = _owners(self.samples.owner, self.train)
        self._check_classes()
        if reader.standardise and self.sparse:
            raise custom_file_error(self.path, "standardise would fill a sparse matrix: leave it out")
        if reader.standardise and self.samples.X.dtype == np.uint8:
            raise custom_file_error(
                self.path, "standardise is not for images: a network's option normalise does the same"
            )
        self.survey = self._survey(share)

    @property
    def sparse(self) -> bool:
        return hasattr(self.samples.X, "indptr")

    def _tested(self) -> tuple[np.ndarray, float]:
        """Which rows test (n,), and the share of them that was drawn, 0 where none was."""
        given, share = self.samples.test, self.reader.test_share
        if given is not None:
            if share is not None:
                raise custom_file_error(self.path, "the data have a test part of their own: leave test_share out")
            if given.all():
                raise custom_file_error(self.path, "all rows are of the test part, and none to train on")
            return given, 0.0
        share = SHARE if share is None else share
        return _drawn(self.y, self.samples.owner, share, self.reader.seed), share

    def _check_classes(self) -> None:
        """Every class has a training row, and there are at least two."""
        if len(self.classes) < 2:
            raise custom_file_error(
                self.path, f"all labels are {self.classes[0]!r}: a classifier needs two classes at least"
            )
        counts = np.bincount(self.y[self.train], minlength=len(self.classes))
        if not counts.all():
            name = self.classes[int(np.argmin(counts))]
            raise custom_file_error(
                self.path, f"the class {name!r} has rows to test, and none to train on: move one, or drop them"
            )

    def _survey(self, share: float) -> Survey:
        X = self.samples.X
        counts = np.bincount(self.y[self.train], minlength=len(self.classes))
        contents = Contents(
            classes=len(self.classes),
            rows=len(self.train),
            test_rows=len(self.test),
            shape=tuple(map(int, X.shape[1:])),
            dtype=np.dtype(X.dtype).name,
            sparse=self.sparse,
            scale=self.samples.scale,
            counts=tuple(map(int, counts)),
        )
        split = (
            f"{100 * share:g} % of the rows of each class test, drawn with seed {self.reader.seed}." if share else ""
        )
        scaled = "Features have zero mean and unit variance over the training rows." if self.reader.standardise else ""
        named = _named("Classes", self.classes) + _named("Clients", self.clients)
        note = " ".join(filter(None, [self.samples.note, *named, split, scaled]))
        return Survey(contents, tuple(self.classes), len(self.clients), note)

    def write(self, out: Writer) -> None:
        shift, scale = self._moments()
        for suffix, rows in (("", self.train), ("_test", self.test)):
            if not len(rows):
                continue
            X = self.samples.X
            if self.sparse:
                out.save(f"X{suffix}", X[rows])
            else:
                made = out.create(f"X{suffix}", (len(rows), *X.shape[1:]), X.dtype)
                for start in range(0, len(rows), _ROWS):
                    block = X[rows[start : start + _ROWS]]
                    made[start : start + _ROWS] = (block - shift) / scale if self.reader.standardise else block
            out.save(f"y{suffix}", self.y[rows])
        if self.owner is not None:
            out.save("owner", self.owner)

    def _moments(self) -> tuple[Any, Any]:
        """Mean and standard deviation of each feature over the training rows; 1 for a constant feature."""
        if not self.reader.standardise:
            return 0, 1
        X = self.samples.X[self.train]
        spread = X.std(axis=0)
        return X.mean(axis=0), np.where((X == X[0]).all(axis=0) | (spread == 0), 1, spread)


def _check_form(reader: CustomReader, samples: Samples) -> None:
    """Raise UserError if a reader does not give what `Samples` says: what a new reader may get wrong."""
    rows, dtype = samples.X.shape[0], np.dtype(samples.X.dtype).name
    lengths = {name: len(one) for name in ("y", "owner", "test") if (one := getattr(samples, name)) is not None}
    if dtype not in DTYPES or len(samples.X.shape) not in (2, 4) or 0 in samples.X.shape[1:]:
        raise UserError(f"reader {reader.name}: X is {dtype} {samples.X.shape}; it must be of Samples' form")
    for name, length in lengths.items():
        if length != rows:
            raise UserError(f"reader {reader.name}: {name} has {length:,} rows, and X {rows:,}")


def _classes(path: Path, labels: np.ndarray) -> tuple[list[str], np.ndarray]:
    """The names of the classes, sorted, and the class of each row, int64 (n,)."""
    found, y = np.unique(labels, return_inverse=True)
    if len(found) > MOST_CLASSES or (labels.dtype.kind in "iu" and len(found) > max(100, len(labels) // 2)):
        raise custom_file_error(
            path, f"the label has {len(found):,} different values in {len(labels):,} rows: these are no classes"
        )
    return [str(name) for name in found.tolist()], y.astype(np.int64)


def _owners(owner: np.ndarray | None, train: np.ndarray) -> tuple[list[str], np.ndarray | None]:
    """The names of the clients, sorted, and the client of each training row, int64, or None."""
    if owner is None:
        return [], None
    found, numbers = np.unique(owner[train], return_inverse=True)
    return [str(name) for name in found.tolist()], numbers.astype(np.int64)


def _drawn(y: np.ndarray, owner: np.ndarray | None, share: float, seed: int) -> np.ndarray:
    """Which rows test (n,): a share of each class, rounded; of two rows or more, one tests and one trains at least.

    A client keeps a row to train on, if need be one that was drawn.
    """
    test = np.zeros(len(y), bool)
    if not share:
        return test
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(_STREAM,))))
    for label in range(int(y.max()) + 1):
        rows = rng.permutation(np.flatnonzero(y == label))
        test[rows[: min(max(1, round(share * len(rows))), len(rows) - 1)]] = True
    if owner is not None:
        _, first, client = np.unique(owner, return_index=True, return_inverse=True)
        left = np.bincount(client, ~test, len(first)) == 0
        test[first[left]] = False
    return test


def _named(what: str, names: Sequence[str]) -> list[str]:
    """A sentence that says which number stands for which name; none where the names are the numbers, or there are many.

    what: the noun.
    """
    if not names or len(names) > _SHOWN or list(names) == [str(number) for number in range(len(names))]:
        return []
    return [f"{what}: " + ", ".join(f"{number} is {name}" for number, name in enumerate(names)) + "."]


def whole(path: Path, what: str, values: np.ndarray) -> np.ndarray:
    """Labels or clients as whole numbers or text. what: the noun for sentences. Raises UserError on anything else."""
    if values.ndim != 1:
        raise custom_file_error(path, f"{what} is of shape {values.shape}: it must be one value for each row")
    if values.dtype.kind == "b":
        return values.astype(np.int64)
    if values.dtype.kind == "f":
        wrong = ~np.isfinite(values) | (values != np.round(values)) | (np.abs(values) > 2**53)
        if wrong.any():
            row = int(np.argmax(wrong))
            raise custom_file_error(
                path, f"{what} is {values[row]:g} in row {row + 1}: it must be a whole number, or text"
            )
        return values.astype(np.int64)
    if values.dtype.kind in "iuUS":
        return np.char.decode(values, "utf-8") if values.dtype.kind == "S" else values
    raise UserError(f"{path}: {what} is of the type {values.dtype}: it must be whole numbers, or text")
