"""Columns of a table: what is in them becomes numbers, labels and clients, or a sentence that says where it cannot."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fedatlas.data.errors import custom_file_error
from fedatlas.errors import UserError, did_you_mean

MISSING = {"", "na", "n/a", "nan", "null", "none", "?"}  # cells that stand for no value, in small letters
MOST_CATEGORIES = 1000  # of a column that becomes one column of 0 and 1 for each of its values
_ZERO = re.compile(r"[+-]?0\d")
_TRAINS, _TESTS = {"train", "training", "0", "false"}, {"test", "testing", "1", "true"}


@dataclass(frozen=True, kw_only=True, eq=False)
class Table:
    """A table.

    columns: pyarrow arrays of one length by their names. place: from a row to the file and the line in which it stands;
    the line is None where the file has none.
    """

    columns: dict[str, Any]
    place: Callable[[int], tuple[Path, int | None]]

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self.columns.values())))

    def wrong(self, row: int, problem: str) -> UserError:
        """The error about a row."""
        path, line = self.place(row)
        return custom_file_error(path, problem if line else f"row {row + 1}: {problem}", line)

    def check_names(self, role: str, names: Sequence[str]) -> None:
        """Raise UserError, with a guess, at the first name that no column has. role: the option, for the sentence."""
        for name in names:
            if name not in self.columns:
                raise custom_file_error(
                    self.place(0)[0], f"{role}: there is no column {name!r}{did_you_mean(name, self.columns)}"
                )

    def kept(self, rows: np.ndarray) -> "Table":
        """The table with some of its rows. rows: whether each is kept (n,)."""
        if rows.all():
            return self
        import pyarrow as pa

        old, mask = np.flatnonzero(rows), pa.array(rows)
        columns = {name: column.filter(mask) for name, column in self.columns.items()}
        return Table(columns=columns, place=lambda row: self.place(int(old[row])))


def texts(column: Any) -> np.ndarray | None:
    """The cells of a column of text without the spaces around them, (n,) of Python's strings; None of another column.

    What is missing is the empty text.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return None
    found: np.ndarray = pc.fill_null(pc.utf8_trim_whitespace(column), "").to_numpy(zero_copy_only=False)
    return found


def absent(column: Any) -> np.ndarray:
    """Whether each cell of a column has no value, (n,)."""
    words = texts(column)
    if words is None:
        values = column.to_numpy(zero_copy_only=False)
        gone: np.ndarray = np.asarray(column.is_null(nan_is_null=True), bool)
        return gone if values.dtype.kind != "f" else gone | np.isnan(values)
    return np.fromiter((word.lower() in MISSING for word in words), bool, len(words))


def empty(column: Any) -> np.ndarray:
    """Whether each cell of a column that names something is empty, (n,)."""
    words = texts(column)
    return np.asarray(column.is_null(), bool) if words is None else np.asarray(words == "", bool)


def numbers(table: Table, name: str) -> np.ndarray:
    """A feature: the numbers of a column, float64 (n,). Raises UserError at the first cell that is none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column, words = table.columns[name], texts(table.columns[name])
    if words is None:
        kind = column.type
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
            raise table.wrong(0, f"column {name!r} is of the type {kind}: make it numbers, or name it under drop")
        values = np.asarray(column.fill_null(0).to_numpy(zero_copy_only=False), np.float64)
        wrong = np.asarray(column.is_null(), bool) | ~np.isfinite(values)
        if wrong.any():
            row = int(np.argmax(wrong))
            raise _no_number(table, name, row, "" if column[row].as_py() is None else str(column[row].as_py()))
        return values
    if np.isin(np.unique(words), ["true", "false", "True", "False", "TRUE", "FALSE"]).all():
        return np.fromiter((word.lower() == "true" for word in words), np.float64, len(words))
    try:
        found = np.asarray(pc.cast(pa.array(words, pa.string()), pa.float64()))
        if np.isfinite(found).all():
            return found
    except pa.ArrowInvalid:
        pass
    found = np.empty(len(words))
    for row, word in enumerate(words):
        try:
            found[row] = _number(word)
        except ValueError:
            raise _no_number(table, name, row, word) from None
    return found


def _number(word: str) -> float:
    """The finite number of a word. Raises ValueError if it is none."""
    value = float(word)
    if not np.isfinite(value) or "_" in word:
        raise ValueError(word)
    return value


def _no_number(table: Table, name: str, row: int, word: str) -> UserError:
    if word.lower() in MISSING:
        return table.wrong(
            row,
            f"column {name!r} has no value ({word!r}): fill it, name the column under drop, or say missing: drop to "
            "leave out rows without a value",
        )
    shown = word if len(word) <= 40 else word[:39] + "…"
    try:
        float(word.replace(",", "."))
        infinite = "_" not in word and "," not in word
    except ValueError:
        infinite = False
    if infinite:
        return table.wrong(row, f"column {name!r} holds {shown!r}, which is no finite number")
    return table.wrong(
        row,
        f"column {name!r} holds {shown!r}, which is no number: name the column under categorical to make a column of "
        "0 and 1 of each of its values, or under drop",
    )


def indicators(table: Table, name: str) -> tuple[list[str], np.ndarray]:
    """A categorical column: names of its values, sorted, and 1 where a row has the value, (n, values)."""
    words = named(table, name, "categorical")
    found, place = np.unique(words, return_inverse=True)
    if len(found) > MOST_CATEGORIES:
        raise table.wrong(0, f"column {name!r} has {len(found):,} different values, which are no categories")
    made = np.zeros((len(words), len(found)))
    made[np.arange(len(words)), place] = 1
    return [str(value) for value in found.tolist()], made


def named(table: Table, name: str, role: str) -> np.ndarray:
    """What the cells of a column name, such as classes: whole numbers where all are, otherwise text, (n,).

    role: of the column, for sentences. Raises UserError at the first cell that is missing, or a number with digits
    after the point where all are numbers.
    """
    import pyarrow as pa

    column, words = table.columns[name], texts(table.columns[name])
    gone = empty(column)
    if gone.any():
        raise table.wrong(int(np.argmax(gone)), f"column {name!r} ({role}) has no value: fill it, or drop the row")
    if words is None:
        kind = column.type
        if pa.types.is_boolean(kind):
            return np.asarray(column.to_numpy(zero_copy_only=False), np.int64)
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
            raise table.wrong(0, f"column {name!r} ({role}) is of the type {kind}: it must be whole numbers, or text")
        values = column.to_numpy(zero_copy_only=False)
        return _whole(table, name, role, np.asarray(values))
    if (plain := _integers(words)) is not None:
        return plain
    try:
        if any(_ZERO.match(word) for word in words):
            raise ValueError("007 and 7 are two names")
        values = np.array([_number(word) for word in words])
    except ValueError:
        return np.array([str(word) for word in words])
    return _whole(table, name, role, values)


def _integers(words: np.ndarray) -> np.ndarray | None:
    """Whole numbers in their shortest form, as int64; None where a word is none."""
    try:
        found = words.astype(np.int64)
    except (ValueError, OverflowError):
        return None
    return found if all(str(number) == word for number, word in zip(found.tolist(), words, strict=True)) else None


def _whole(table: Table, name: str, role: str, values: np.ndarray) -> np.ndarray:
    if values.dtype.kind in "iu":
        return values
    wrong = ~np.isfinite(values) | (values != np.round(values)) | (np.abs(values) > 2**53)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise table.wrong(row, f"column {name!r} ({role}) holds {values[row]:g}: it must be whole numbers, or text")
    return values.astype(np.int64)


def tested(table: Table, name: str) -> np.ndarray:
    """Whether the rows test, according to a column of ``train`` and ``test``, 0 and 1, or false and true, (n,)."""
    words = [str(word).lower() for word in named(table, name, "test_column").tolist()]
    for row, word in enumerate(words):
        if word not in _TRAINS | _TESTS:
            raise table.wrong(row, f"column {name!r} (test_column) holds {word!r}: it must be train or test, or 0 or 1")
    return np.array([word in _TESTS for word in words])
