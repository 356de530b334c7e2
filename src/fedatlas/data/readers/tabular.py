"""Base of the readers of tables: the label, clients, test rows and features of columns."""

import itertools
from abc import abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from fedatlas.data.errors import custom_file_error
from fedatlas.data.readers.columns import Table, indicators, is_empty, is_missing, is_test_row, labels, matrix
from fedatlas.data.readers.custom_reader import CustomReader, Samples
from fedatlas.errors import UserError
from fedatlas.registry.options import option


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
        for use in ("label", "client", "test_column", "drop"):
            for name in _names(getattr(self, use)):
                if (other := uses.setdefault(name, use)) != use:
                    raise UserError(f"column {name!r} is named under {other} and {use}: one column has one use")
        for use in ("features", "categorical"):
            for name in _names(getattr(self, use)):
                if name in uses:
                    raise UserError(f"column {name!r} is named under {uses[name]} and {use}: one column has one use")

    @abstractmethod
    def table(self, path: Path) -> Table:
        """Return the table of a file. Raises UserError if it is none."""

    def load(self, paths: Sequence[Path]) -> Samples:
        tables = [self.table(path) for path in paths]
        for path, table in zip(paths, tables, strict=True):
            if not table.columns or not table.rows:
                raise custom_file_error(path, "holds no rows")
        table = tables[0] if len(tables) == 1 else _join(tables, paths)
        test = np.arange(table.rows) >= tables[0].rows if len(tables) > 1 else None
        self._check_columns(table, len(tables))
        features = self._features(table)
        incomplete = np.zeros(table.rows, bool)
        if self.missing == "drop":
            for name in features:
                incomplete |= is_missing(table.columns[name])
            for name in filter(None, (self.label, self.client)):
                incomplete |= is_empty(table.columns[name])
            if incomplete.all():
                raise custom_file_error(paths[0], "missing: drop leaves no row: every one lacks a value")
            table = table.select(~incomplete)
            test = None if test is None else test[~incomplete]
        if self.test_column is not None:
            test = is_test_row(table, self.test_column)
        y = labels(table, self.label, "label")
        owner = None if self.client is None else labels(table, self.client, "client")
        X = self._matrix(table, features)
        note = f"The label is the column {self.label}."
        if incomplete.any():
            note += f" {int(incomplete.sum()):,} rows without a value are left out."
        return Samples(X=X, y=y, owner=owner, test=test, note=note)

    def _check_columns(self, table: Table, parts: int) -> None:
        path, _ = table.locate(0)
        if self.test_column is not None and self.test_share is not None:
            raise custom_file_error(path, "test_column and test_share exclude one another")
        if self.test_column is not None and parts > 1:
            raise custom_file_error(path, "test_column and test_file exclude one another")
        for use in ("label", "client", "features", "drop", "categorical", "test_column"):
            table.check_names(use, _names(getattr(self, use)))

    def _features(self, table: Table) -> list[str]:
        used = {self.label, self.client, self.test_column, *_names(self.drop)}
        features = _names(self.features) or [name for name in table.columns if name not in used]
        features = list(dict.fromkeys([*features, *_names(self.categorical)]))
        if not features:
            raise custom_file_error(table.locate(0)[0], "no column is left for features")
        return features

    def one_hot(self, table: Table, name: str) -> bool:
        """Return whether the values of a feature become columns of 0 and 1."""
        return name in _names(self.categorical)

    def _matrix(self, table: Table, features: Sequence[str]) -> np.ndarray:
        parts: list[Any] = []
        for is_category, group in itertools.groupby(features, partial(self.one_hot, table)):
            names = list(group)
            parts += [indicators(table, name)[1] for name in names] if is_category else [matrix(table, names)]
        return np.concatenate(parts, axis=1)


def find_duplicate(names: Sequence[str]) -> str | None:
    """Return the first name that occurs twice, or None."""
    return next((name for name, count in Counter(names).items() if count > 1), None)


def _names(value: str | list[str] | None) -> list[str]:
    """Return the columns of an option, which may be one name."""
    return [value] if isinstance(value, str) else value or []


def _join(tables: Sequence[Table], paths: Sequence[Path]) -> Table:
    """Return the training rows, then the test rows. Raises UserError if the two tables have different columns."""
    import pyarrow as pa

    first, second = tables
    if set(first.columns) != set(second.columns):
        name = next(iter(set(first.columns) ^ set(second.columns)))
        path, other = (paths[1], paths[0]) if name in first.columns else (paths[0], paths[1])
        fault = f"there is no column {name!r}, which {other} has: the two files must have the same columns"
        raise custom_file_error(path, fault)

    def chunks(column: Any) -> list[Any]:
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        return column.chunks if isinstance(column, pa.ChunkedArray) else [column]

    columns = {}
    for name, column in first.columns.items():
        parts = [*chunks(column), *chunks(second.columns[name])]
        try:
            joined = pa.concat_arrays(_cast(parts))
            columns[name] = joined.dictionary_encode() if pa.types.is_dictionary(column.type) else joined
        except pa.ArrowException:
            raise custom_file_error(paths[1], f"column {name!r} is of another type than in {paths[0]}") from None
    rows = first.rows
    return Table(columns=columns, locate=lambda row: first.locate(row) if row < rows else second.locate(row - rows))


def _cast(arrays: list[Any]) -> list[Any]:
    """Return arrays of one type; numbers of different types become double precision."""
    import pyarrow as pa

    if len({str(array.type) for array in arrays}) == 1:
        return arrays
    if all(pa.types.is_string(array.type) or pa.types.is_large_string(array.type) for array in arrays):
        return [array.cast(pa.string()) for array in arrays]
    return [array.cast(pa.float64()) for array in arrays]
