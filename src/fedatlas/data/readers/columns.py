"""Columns of a table: their cells become numbers, labels and clients, or an error that names the cell."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fedatlas.data.errors import custom_file_error
from fedatlas.errors import UserError, did_you_mean

MISSING = {"", "na", "n/a", "nan", "null", "none", "?"}  # cells without a value, in small letters
MOST_CATEGORIES = 1000  # of a column that becomes one column of 0 and 1 for each of its values
_LEADING_ZERO = re.compile(r"[+-]?0\d")
_TRAIN, _TEST = {"train", "training", "0", "false"}, {"test", "testing", "1", "true"}


@dataclass(frozen=True, kw_only=True, eq=False)
class Table:
    """A table.

    Args:
        columns: pyarrow arrays of one length by their names.
        locate: Maps a row to its file and line; the line is None if the file has no lines.
    """

    columns: dict[str, Any]
    locate: Callable[[int], tuple[Path, int | None]]

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self.columns.values())))

    def error(self, row: int, fault: str) -> UserError:
        """Return the error about a row."""
        path, line = self.locate(row)
        return custom_file_error(path, fault if line else f"row {row + 1}: {fault}", line)

    def check_names(self, role: str, names: Sequence[str]) -> None:
        """Raise UserError, with the nearest name, at the first name that no column has.

        Args:
            role: The option that names the columns, for the sentence.
            names: Names of columns.
        """
        for name in names:
            if name not in self.columns:
                hint = did_you_mean(name, self.columns)
                raise custom_file_error(self.locate(0)[0], f"{role}: there is no column {name!r}{hint}")

    def select(self, rows: np.ndarray) -> "Table":
        """Return the table of the rows where ``rows`` (n,) is True."""
        if rows.all():
            return self
        import pyarrow as pa

        selected, mask = np.flatnonzero(rows), pa.array(rows)
        columns = {name: column.filter(mask) for name, column in self.columns.items()}
        return Table(columns=columns, locate=lambda row: self.locate(int(selected[row])))


def texts(column: Any) -> np.ndarray | None:
    """Return the cells of a column of text without surrounding spaces, (n,) of str; None for other columns.

    A missing cell is the empty text.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return None
    cells: np.ndarray = pc.fill_null(pc.utf8_trim_whitespace(column), "").to_numpy(zero_copy_only=False)
    return cells


def is_missing(column: Any) -> np.ndarray:
    """Return whether each cell of a feature has no value, (n,)."""
    words = texts(column)
    if words is None:
        values = column.to_numpy(zero_copy_only=False)
        null: np.ndarray = np.asarray(column.is_null(nan_is_null=True), bool)
        return null if values.dtype.kind != "f" else null | np.isnan(values)
    return np.fromiter((word.lower() in MISSING for word in words), bool, len(words))


def is_empty(column: Any) -> np.ndarray:
    """Return whether each cell of a label or client is empty, (n,)."""
    words = texts(column)
    return np.asarray(column.is_null(), bool) if words is None else np.asarray(words == "", bool)


def numbers(table: Table, name: str) -> np.ndarray:
    """Return the numbers of a feature, float64 (n,). Raises UserError at the first cell that is no finite number."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column, words = table.columns[name], texts(table.columns[name])
    if words is None:
        kind = column.type
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
            raise table.error(0, f"column {name!r} is of the type {kind}: make it numbers, or name it under drop")
        zero = False if pa.types.is_boolean(kind) else 0
        values = np.asarray(column.fill_null(zero).to_numpy(zero_copy_only=False), np.float64)
        invalid = np.asarray(column.is_null(), bool) | ~np.isfinite(values)
        if invalid.any():
            row = int(np.argmax(invalid))
            raise _number_error(table, name, row, "" if column[row].as_py() is None else str(column[row].as_py()))
        return values
    if np.isin(np.unique(words), ["true", "false", "True", "False", "TRUE", "FALSE"]).all():
        return np.fromiter((word.lower() == "true" for word in words), np.float64, len(words))
    try:
        values = np.asarray(pc.cast(pa.array(words, pa.string()), pa.float64()))
        if np.isfinite(values).all():
            return values
    except pa.ArrowInvalid:
        pass
    values = np.empty(len(words))  # Python reads more forms of numbers than pyarrow, and says which cell is none
    for row, word in enumerate(words):
        try:
            values[row] = _parse_number(word)
        except ValueError:
            raise _number_error(table, name, row, word) from None
    return values


def matrix(table: Table, names: Sequence[str]) -> np.ndarray:
    """Return the numbers of features, float64 (n, features).

    Plain numbers are read for many columns at once, and the other columns one by one.

    Raises:
        UserError: As of `numbers`.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if len(names) == 1:
        return numbers(table, names[0])[:, None]
    columns = [table.columns[name] for name in names]
    if all(pa.types.is_string(column.type) for column in columns):
        try:
            cells = pc.cast(pc.utf8_trim_whitespace(pa.chunked_array(columns)), pa.float64())
            values = cells.to_numpy().reshape(len(names), table.rows)
            if np.isfinite(values).all():
                return np.ascontiguousarray(values.T)
        except pa.ArrowInvalid:
            pass
    half = len(names) // 2
    return np.concatenate([matrix(table, names[:half]), matrix(table, names[half:])], axis=1)


def indicators(table: Table, name: str) -> tuple[list[str], np.ndarray]:
    """Return the sorted values of a categorical column, and 1 where a row has the value, (n, values)."""
    words = labels(table, name, "categorical")
    values, positions = np.unique(words, return_inverse=True)
    if len(values) > MOST_CATEGORIES:
        raise table.error(0, f"column {name!r} has {len(values):,} different values, which are no categories")
    X = np.zeros((len(words), len(values)))
    X[np.arange(len(words)), positions] = 1
    return [str(value) for value in values.tolist()], X


def labels(table: Table, name: str, role: str) -> np.ndarray:
    """Return the cells of a column of classes, clients or categories.

    Args:
        table: The table.
        name: Name of the column.
        role: Use of the column, for sentences.

    Returns:
        Whole numbers if all cells are whole numbers, otherwise text, (n,).

    Raises:
        UserError: At the first cell that is missing, or has digits after the point in a column of numbers.
    """
    import pyarrow as pa

    column, words = table.columns[name], texts(table.columns[name])
    empty = is_empty(column)
    if empty.any():
        raise table.error(int(np.argmax(empty)), f"column {name!r} ({role}) has no value: fill it, or drop the row")
    if words is None:
        kind = column.type
        if pa.types.is_boolean(kind):
            return np.asarray(column.to_numpy(zero_copy_only=False), np.int64)
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
            raise table.error(0, f"column {name!r} ({role}) is of the type {kind}: it must be whole numbers, or text")
        return _whole_numbers(table, name, role, np.asarray(column.to_numpy(zero_copy_only=False)))
    if (integers := _integers(words)) is not None:
        return integers
    try:
        if any(_LEADING_ZERO.match(word) for word in words):
            raise ValueError("007 and 7 are two names")
        values = np.array([_parse_number(word) for word in words])
    except ValueError:
        return np.array([str(word) for word in words])
    return _whole_numbers(table, name, role, values)


def is_test_row(table: Table, name: str) -> np.ndarray:
    """Return whether each row tests, (n,), by a column of ``train`` and ``test``, 0 and 1, or false and true."""
    words = [str(word).lower() for word in labels(table, name, "test_column").tolist()]
    for row, word in enumerate(words):
        if word not in _TRAIN | _TEST:
            raise table.error(row, f"column {name!r} (test_column) holds {word!r}: it must be train or test, or 0 or 1")
    return np.array([word in _TEST for word in words])


def _parse_number(word: str) -> float:
    """Return the finite number of a word. Raises ValueError if it is none."""
    value = float(word)
    if not np.isfinite(value) or "_" in word:
        raise ValueError(word)
    return value


def _number_error(table: Table, name: str, row: int, word: str) -> UserError:
    if word.lower() in MISSING:
        return table.error(
            row,
            f"column {name!r} has no value ({word!r}): fill it, name the column under drop, or say missing: drop to "
            "leave out rows without a value",
        )
    excerpt = word if len(word) <= 40 else word[:39] + "…"
    try:
        float(word.replace(",", "."))
        infinite = "_" not in word and "," not in word
    except ValueError:
        infinite = False
    if infinite:
        return table.error(row, f"column {name!r} holds {excerpt!r}, which is no finite number")
    return table.error(
        row,
        f"column {name!r} holds {excerpt!r}, which is no number: name the column under categorical to make a column of "
        "0 and 1 of each of its values, or under drop",
    )


def _integers(words: np.ndarray) -> np.ndarray | None:
    """Return whole numbers in their shortest form as int64, or None if a word is none."""
    try:
        integers = words.astype(np.int64)
    except (ValueError, OverflowError):
        return None
    return integers if all(str(number) == word for number, word in zip(integers.tolist(), words, strict=True)) else None


def _whole_numbers(table: Table, name: str, role: str, values: np.ndarray) -> np.ndarray:
    if values.dtype.kind in "iu":
        return values
    invalid = ~np.isfinite(values) | (values != np.round(values)) | (np.abs(values) > 2**53)
    if invalid.any():
        row = int(np.argmax(invalid))
        raise table.error(row, f"column {name!r} ({role}) holds {values[row]:g}: it must be whole numbers, or text")
    return values.astype(np.int64)
