"""Base of the readers of custom data: classes, owners, and the split into training and test rows.

A reader runs twice: for a survey of the files when an experiment is read, and for the arrays when data are prepared.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from fedatlas.data.dataset import DTYPES, Contents
from fedatlas.data.readers import Reader, Writer, draw_test_rows
from fedatlas.errors import UserError
from fedatlas.registry.options import option

TEST_SHARE = 0.2  # of the rows of each class, by default
_STREAM = 0x5445_5354  # of the random numbers that choose test rows
_MOST_NAMES = 20  # classes that a note lists


@dataclass(frozen=True, kw_only=True, eq=False)
class Samples:
    """The samples of custom files.

    Args:
        X: Numbers (n, d) in single or double precision, dense or a CSR matrix, or uint8 images (n, channels, height,
            width).
        y: Labels (n,), whole numbers or text.
        owner: Client of each row (n,), whole numbers or text, or None.
        test: Whether each row tests (n,), or None if the files do not say.
    """

    X: Any
    y: np.ndarray
    owner: np.ndarray | None = None
    test: np.ndarray | None = None


@dataclass(frozen=True, kw_only=True)
class CustomReader(Reader):
    """Base of the readers of custom files.

    Class attribute ``endings``: endings of the names of files that the reader takes by default. The option ``format``
    names one of them without its dot, or the reader.
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

    @abstractmethod
    def load(self, paths: Sequence[Path]) -> Samples:
        """Read files.

        Args:
            paths: Paths of the file, and of the file of test rows if there is one.

        Raises:
            UserError: If a file cannot be used; it names the file and the place.
        """

    def survey(self, paths: Sequence[Path]) -> dict[str, Any]:
        """Return what files hold, as JSON types. Raises UserError at any fault in them.

        Args:
            paths: As of `load`.

        Returns:
            ``contents``, the names of ``classes`` in their order, the number of ``clients`` that own training rows, 0
            if the files name none, and a ``note`` for readers of results.
        """
        return _Parts(self, paths).survey()

    def read(self, paths: Sequence[Path], contents: Contents, out: Writer) -> None:
        _Parts(self, paths).write(out)


class _Parts:
    """The samples of files, split into a training and a test part."""

    def __init__(self, reader: CustomReader, paths: Sequence[Path]) -> None:
        self.reader, self.path = reader, paths[0]
        self.samples = samples = reader.load(paths)
        self._check_form()
        names, self.y = _number(self._names("y", samples.y))
        self.classes = names
        if len(names) > max(100, len(self.y) // 2):
            raise self._error(f"the label has {len(names):,} values in {len(self.y):,} rows: these are not classes")
        test, self.share = samples.test, 0.0  # of the rows of each class that are drawn to test
        if test is None:
            self.share = TEST_SHARE if reader.test_share is None else reader.test_share
            test = self._draw_test_rows()
        elif reader.test_share is not None:
            raise self._error("the data have a test part of their own: leave test_share out")
        test = test.astype(bool)  # of 0 and 1, ~ makes -1 and -2, and all rows would train
        self.train, self.test = np.flatnonzero(~test), np.flatnonzero(test)
        self.counts = np.bincount(self.y[self.train], minlength=len(names))
        if len(names) < 2:
            raise self._error(f"all labels are {names[0]!r}: a classifier needs two classes at least")
        if not self.counts.all():
            name = names[int(np.argmin(self.counts))]
            raise self._error(f"the class {name!r} has rows to test, and none to train on: move one, or drop them")
        self.clients: list[str] = []
        if samples.owner is not None:
            self.owner = self._names("owner", samples.owner)
            self.clients, self.train_owner = _number(self.owner[self.train])

    def _check_form(self) -> None:
        """Raise UserError if the reader's result is not of the form of `Samples`, or has no rows."""
        X = self.samples.X
        dtype, self.sparse = np.dtype(X.dtype).name, hasattr(X, "indptr")
        if dtype not in DTYPES or len(X.shape) != (4 if dtype == "uint8" else 2) or 0 in X.shape:
            form = "numbers (n, d), or images in uint8 (n, channels, height, width)"
            raise self._error(f"the samples are {dtype} {X.shape}: they must be {form}")
        for key in ("y", "owner", "test"):
            if (array := getattr(self.samples, key)) is not None and array.shape != X.shape[:1]:
                raise self._error(
                    f"{key} is of shape {array.shape}: it must be one value for each of {X.shape[0]:,} rows"
                )
        if not np.isfinite(X.data if self.sparse else X).all():
            raise self._error("a feature is not a finite number")
        if self.reader.standardise and (self.sparse or dtype == "uint8"):
            raise self._error("standardise is for dense numbers: leave it out for LIBSVM text and images")

    def _draw_test_rows(self) -> np.ndarray:
        """Draw a share of the rows of each class to test; a client keeps a row, if need be one that was drawn."""
        seed = np.random.SeedSequence(self.reader.seed, spawn_key=(_STREAM,))
        test = draw_test_rows(self.y, self.share, seed)
        if (owner := self.samples.owner) is not None:
            _, first, client = np.unique(owner, return_index=True, return_inverse=True)
            without_row = np.bincount(client, ~test, len(first)) == 0
            test[first[without_row]] = False
        return test

    def _names(self, key: str, values: np.ndarray) -> np.ndarray:
        """Return labels or clients as whole numbers or text. Raises UserError if they are neither."""
        if values.dtype.kind in "bf" and (np.abs(values) < 2**53).all() and (values == np.round(values)).all():
            return values.astype(np.int64)
        if values.dtype.kind not in "iuUO":
            raise self._error(f"{key} is {values.dtype}: it must be whole numbers, or text")
        return values

    def survey(self) -> dict[str, Any]:
        X = self.samples.X
        contents = Contents(
            classes=len(self.classes),
            rows=len(self.train),
            test_rows=len(self.test),
            shape=tuple(map(int, X.shape[1:])),
            dtype=np.dtype(X.dtype).name,
            sparse=self.sparse,
            scale=255.0 if X.dtype == np.uint8 else 1.0,
            counts=tuple(map(int, self.counts)),
        )
        notes, numbers = [], [str(number) for number in range(len(self.classes))]
        if self.classes != numbers and len(numbers) <= _MOST_NAMES:
            names = (f"{number} is {name}" for number, name in zip(numbers, self.classes, strict=True))
            notes.append(f"Classes: {', '.join(names)}.")
        if self.share:
            notes.append(f"{100 * self.share:g} % of the rows of each class test, drawn with seed {self.reader.seed}.")
        if self.reader.standardise:
            notes.append("Features have zero mean and unit variance over the training rows.")
        counts = {"contents": contents.to_json(), "classes": self.classes, "clients": len(self.clients)}
        return counts | {"note": " ".join(notes)}

    def write(self, out: Writer) -> None:
        X = self.samples.X
        if self.reader.standardise:
            train = X[self.train]
            deviation = train.std(axis=0)
            constant = (train == train[0]).all(axis=0) | (deviation == 0)
            X = ((X - train.mean(axis=0)) / np.where(constant, 1, deviation)).astype(X.dtype, copy=False)
        for suffix, rows in (("", self.train), ("_test", self.test)):
            if len(rows):
                out.save(f"X{suffix}", X[rows])
                out.save(f"y{suffix}", self.y[rows])
        if not self.clients:
            return
        out.save("owner", self.train_owner)
        out.save("client_names", np.array(self.clients))
        if len(self.test):
            clients = {client: number for number, client in enumerate(self.clients)}
            owners = [clients.get(str(client), -1) for client in self.owner[self.test].tolist()]  # -1: no training rows
            out.save("owner_test", np.array(owners, np.int64))

    def _error(self, fault: str) -> UserError:
        return UserError(f"{self.path}: {fault}")


def _number(values: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Return the sorted names of values (n,), and the number of each value, int64 (n,)."""
    names, numbers = np.unique(values, return_inverse=True)
    return [str(name) for name in names.tolist()], numbers.astype(np.int64)
