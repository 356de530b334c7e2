"""Base of the readers of tables: the label, clients, test rows and features of columns."""

import re
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fedatlas.data.errors import custom_file_error
from fedatlas.data.readers.custom_reader import CustomReader, Samples, find_fraction
from fedatlas.errors import UserError, did_you_mean
from fedatlas.registry.options import option

if TYPE_CHECKING:
    import pandas as pd

MISSING = {"", "na", "n/a", "nan", "null", "none", "?"}  # cells without a value, in small letters
MOST_CATEGORIES = 1000  # of a column that becomes one column of 0 and 1 for each of its values
_LEADING_ZERO = re.compile(r"[+-]?0\d")
_TEST_WORDS = {"train": False, "training": False, "0": False, "false": False}
_TEST_WORDS |= {"test": True, "testing": True, "1": True, "true": True}


@dataclass(frozen=True, kw_only=True)
class Tabular(CustomReader):
    """Base of the readers of tables: a row is a sample, and its columns are label, client and features."""

    label: str = option(doc="column of the classes, which are whole numbers or text; they are sorted")
    client: str | None = option(None, doc="column of the clients that own the rows, for the partition natural")
    features: str | list[str] | None = option(
        None, doc="columns that are features; by default all that have no other use", filled=True, distinct=True
    )
    drop: str | list[str] = option(list, doc="columns that are left out", distinct=True)
    categorical: str | list[str] = option(
        list, doc="features of which each value becomes a column of 0 and 1, in sorted order", distinct=True
    )
    missing: Literal["refuse", "drop"] = option(
        "refuse", doc="whether a row without a value for a feature, label or client is an error, or is left out"
    )
    test_column: str | None = option(None, doc="column that says train or test, or 0 or 1 where 1 tests")

    def __post_init__(self) -> None:
        super().__post_init__()
        uses: dict[str, str] = {}
        for use in ("label", "client", "test_column", "drop", "features", "categorical"):
            for name in _names(getattr(self, use)):
                other = uses.setdefault(name, use)
                if other != use and (other, use) != ("features", "categorical"):
                    raise UserError(f"column {name!r} is named under {other} and {use}: one column has one use")

    @abstractmethod
    def table(self, path: Path) -> "pd.DataFrame":
        """Return the table of a file. Raises UserError if it is none."""

    def load(self, paths: Sequence[Path]) -> Samples:
        table = _Table(paths, [self.table(path) for path in paths])
        if self.test_column is not None and (self.test_share is not None or len(paths) > 1):
            other = "test_share" if self.test_share is not None else "test_file"
            raise custom_file_error(paths[0], f"test_column and {other} exclude one another")
        for use in ("label", "client", "features", "drop", "categorical", "test_column"):
            table.check_names(use, _names(getattr(self, use)))
        used = {self.label, self.client, self.test_column, *_names(self.drop)}
        features = _names(self.features) or [name for name in table.frame if name not in used]
        features = list(dict.fromkeys([*features, *_names(self.categorical)]))
        if not features:
            raise custom_file_error(paths[0], "no column is left for features")
        note = f"The label is the column {self.label}."
        if self.missing == "drop" and (
            count := table.drop_incomplete(features, filter(None, (self.label, self.client)))
        ):
            note += f" {count:,} rows without a value are left out."
        columns = [
            table.indicators(name) if self.one_hot(table.frame[name], name) else table.numbers(name)[:, None]
            for name in features
        ]
        test = None
        if self.test_column is not None:
            test = table.tests(self.test_column)
        elif len(paths) > 1:
            test = table.frame.index.get_level_values(0) == 1
        return Samples(
            X=np.concatenate(columns, axis=1),
            y=table.labels(self.label, "label"),
            owner=None if self.client is None else table.labels(self.client, "client"),
            test=test,
            note=note,
        )

    def one_hot(self, column: "pd.Series[Any]", name: str) -> bool:
        """Return whether the values of a feature become columns of 0 and 1."""
        return name in _names(self.categorical)


class _Table:
    """The rows of one file or two. A fault in a cell is an error with file, row and column.

    The rows of ``frame`` are indexed by the number of their file and their own number in it.
    """

    def __init__(self, paths: Sequence[Path], frames: Sequence["pd.DataFrame"]) -> None:
        import pandas as pd

        self.paths = paths
        for path, frame in zip(paths, frames, strict=True):
            if not frame.columns.is_unique:
                name = frame.columns[frame.columns.duplicated()][0]
                raise custom_file_error(path, f"two columns are called {name!r}: rename one")
            if frame.empty:
                raise custom_file_error(path, "holds no rows")
            if other := set(frame.columns) ^ set(frames[0].columns):
                fault = f"only one of the two files has the column {min(other)!r}: both must have the same columns"
                raise custom_file_error(path, fault)
        numbered = [frame.set_axis(range(1, len(frame) + 1)) for frame in frames]
        categories = dict.fromkeys(frames[0].select_dtypes("category"), "category")  # which two files may lose
        self.frame = pd.concat(numbered, keys=range(len(numbered))).astype(categories)

    def check_names(self, use: str, names: Sequence[str]) -> None:
        """Raise UserError, with the nearest name, at the first name that no column has.

        Args:
            use: The option that names the columns, for the sentence.
            names: Names of columns.
        """
        for name in names:
            if name not in self.frame:
                hint = did_you_mean(name, list(self.frame))
                raise custom_file_error(self.paths[0], f"{use}: there is no column {name!r}{hint}")

    def drop_incomplete(self, features: Iterable[str], keys: Iterable[str]) -> int:
        """Drop the rows that lack a value for a feature, label or client, and return their number."""
        incomplete = np.zeros(len(self.frame), bool)
        for names, empty in ((features, MISSING), (keys, {""})):
            for name in names:
                incomplete |= _is_empty(self.frame[name], empty)
        if incomplete.all():
            raise custom_file_error(self.paths[0], "missing: drop leaves no row: every one lacks a value")
        self.frame = self.frame[~incomplete].infer_objects()  # whole numbers beside nulls are objects
        return int(incomplete.sum())

    def numbers(self, name: str) -> np.ndarray:
        """Return a feature as float64 (n,). Raises UserError at the first cell that is not a finite number."""
        column = self.frame[name]
        if column.dtype.kind not in "biufO":
            fault = f"column {name!r} is of the type {column.dtype}: make it numbers, or name it under drop"
            raise custom_file_error(self.paths[0], fault)
        values = _parse(column)
        finite = np.isfinite(values)
        if finite.all():
            return values
        row = int(np.argmin(finite))
        word = _words(column)[row]
        if word.lower() in MISSING:
            fault = "fill it, name the column under drop, or say missing: drop to leave out rows without a value"
            raise self._error(row, f"column {name!r} has no value ({word!r}): {fault}")
        raise self._error(
            row,
            f"column {name!r} holds {word[:40]!r}, which is no finite number: name the column under categorical to "
            "make a column of 0 and 1 of each of its values, or under drop",
        )

    def labels(self, name: str, use: str) -> np.ndarray:
        """Return the cells of a column of classes, clients or categories.

        Args:
            name: Name of the column.
            use: Use of the column, for sentences.

        Returns:
            Whole numbers if all cells are whole numbers, otherwise text, (n,).

        Raises:
            UserError: At the first cell that is missing, or has digits after the point in a column of numbers.
        """
        column = self.frame[name]
        empty = _is_empty(column, {""})
        if empty.any():
            fault = f"column {name!r} ({use}) has no value: fill it, or drop the row"
            raise self._error(int(np.argmax(empty)), fault)
        if column.dtype.kind in "biu":
            return column.to_numpy(np.uint64 if column.dtype.kind == "u" else np.int64)
        if column.dtype.kind == "O":
            words = _words(column)
            if (integers := _integers(words)) is not None:
                return integers
            values = np.array([parse_number(word) for word in words])  # true is a name
            if not np.isfinite(values).all() or any(map(_LEADING_ZERO.match, words)):  # 007 and 7 are two names
                return words.astype(str)
        elif column.dtype.kind == "f":
            values = column.to_numpy()
        else:
            fault = f"column {name!r} ({use}) is of the type {column.dtype}: it must be whole numbers, or text"
            raise custom_file_error(self.paths[0], fault)
        if (fraction := find_fraction(values)) is not None:
            fault = f"column {name!r} ({use}) holds {values[fraction]:g}: it must be whole numbers, or text"
            raise self._error(fraction, fault)
        return values.astype(np.int64)

    def indicators(self, name: str) -> np.ndarray:
        """Return 1 where a row has a value of a categorical column, for its values in sorted order, (n, values)."""
        values, positions = np.unique(self.labels(name, "categorical"), return_inverse=True)
        if len(values) > MOST_CATEGORIES:
            fault = f"column {name!r} has {len(values):,} different values, which are not categories"
            raise custom_file_error(self.paths[0], fault)
        return np.asarray(positions[:, None] == np.arange(len(values)), np.float64)

    def tests(self, name: str) -> np.ndarray:
        """Return whether each row tests, (n,), by a column of ``train`` and ``test``, 0 and 1, or false and true."""
        words = [str(word).lower() for word in self.labels(name, "test_column").tolist()]
        for row, word in enumerate(words):
            if word not in _TEST_WORDS:
                fault = f"column {name!r} (test_column) holds {word!r}: it must be train or test, or 0 or 1"
                raise self._error(row, fault)
        return np.array([_TEST_WORDS[word] for word in words])

    def _error(self, row: int, fault: str) -> UserError:
        file, number = self.frame.index[row]
        return custom_file_error(self.paths[file], f"row {number}: {fault}")


def _names(value: str | list[str] | None) -> list[str]:
    """Return the columns of an option, which may be one name."""
    return [value] if isinstance(value, str) else value or []


def _is_empty(column: "pd.Series[Any]", empty: set[str]) -> np.ndarray:
    """Return whether each cell of a column is missing, or is one of some words in small letters, (n,)."""
    if column.dtype.kind != "O":
        return column.isna().to_numpy()
    return np.array([word.lower() in empty for word in _words(column)])


def _words(column: "pd.Series[Any]") -> np.ndarray:
    """Return the cells of a column as text without surrounding spaces, (n,); a missing cell is the empty text."""
    cells = column.astype(object).where(column.notna(), "")
    return np.array([str(cell).strip() for cell in cells], object)


def _parse(column: "pd.Series[Any]") -> np.ndarray:
    """Return the cells of a column as numbers, float64 (n,), NaN where a cell is none. True and false are 1 and 0."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if column.dtype.kind != "O":
        return column.to_numpy(np.float64, na_value=np.nan)
    try:
        text = pa.array(column.astype(object), pa.string(), from_pandas=True)
        return np.asarray(pc.cast(pc.utf8_trim_whitespace(text), pa.float64()).to_numpy(zero_copy_only=False))
    except (pa.ArrowInvalid, pa.ArrowTypeError):  # Python reads more forms of numbers than pyarrow
        words = _words(column)
    if {word.lower() for word in set(words)} <= {"true", "false", ""}:
        words = np.where(words == "", "nan", np.where(np.char.lower(words.astype(str)) == "true", "1", "0"))
    return np.array([parse_number(word) for word in words])


def parse_number(word: str) -> float:
    """Return the number of a word, NaN if it is none."""
    try:
        return float("nan" if "_" in word else word)
    except ValueError:
        return float("nan")


def _integers(words: np.ndarray) -> np.ndarray | None:
    """Return whole numbers in their shortest form as int64, or None if a word is none."""
    try:
        integers = words.astype(np.int64)
    except (ValueError, OverflowError):
        return None
    return integers if np.array_equal(integers.astype(str), words.astype(str)) else None
