"""What readers of tables share: which column is what."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from fedatlas.data.errors import custom_file_error
from fedatlas.data.readers.columns import Table, absent, empty, indicators, named, numbers, tested
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
        roles = {"label": self.label, "client": self.client, "test_column": self.test_column}
        used: dict[str, str] = {}
        for role, name in [*roles.items(), *(("drop", one) for one in _listed(self.drop))]:
            if name is not None and (other := used.setdefault(name, role)) != role:
                raise UserError(f"column {name!r} is named under {other} and {role}: one column has one use")
        for role, names in (("features", self.features), ("categorical", self.categorical)):
            for name in _listed(names):
                if name in used:
                    raise UserError(f"column {name!r} is named under {used[name]} and {role}: one column has one use")

    @abstractmethod
    def table(self, path: Path) -> Table:
        """The table of a file. Raises UserError if it is none."""

    def load(self, paths: Sequence[Path]) -> Samples:
        tables = [self.table(path) for path in paths]
        for path, one in zip(paths, tables, strict=True):
            if not one.columns or not one.rows:
                raise custom_file_error(path, "holds no rows")
        whole = tables[0] if len(tables) == 1 else _joined(tables, paths)
        self._check(whole, len(tables))
        features = self._features(whole)
        gone = np.zeros(whole.rows, bool)
        if self.missing == "drop":
            for name in features:
                gone |= absent(whole.columns[name])
            for name in filter(None, (self.label, self.client)):
                gone |= empty(whole.columns[name])
            if gone.all():
                raise custom_file_error(paths[0], "missing: drop leaves no row: every one lacks a value")
        kept = whole.kept(~gone)
        test = None
        if self.test_column is not None:
            test = tested(kept, self.test_column)
        elif len(tables) > 1:
            test = (np.arange(whole.rows) >= tables[0].rows)[~gone]
        y = named(kept, self.label, "label")
        owner = None if self.client is None else named(kept, self.client, "client")
        X = self._matrix(kept, features)
        notes = [f"The label is the column {self.label}."]
        notes += [f"{int(gone.sum()):,} rows without a value are left out."] if gone.any() else []
        return Samples(X=X, y=y, owner=owner, test=test, note=" ".join(notes))

    def _check(self, table: Table, parts: int) -> None:
        if self.test_column is not None and self.test_share is not None:
            raise custom_file_error(table.place(0)[0], "test_column and test_share exclude one another")
        if self.test_column is not None and parts > 1:
            raise custom_file_error(table.place(0)[0], "test_column and test_file exclude one another")
        for role in ("label", "client", "features", "drop", "categorical", "test_column"):
            table.check_names(role, _listed(getattr(self, role)))

    def _features(self, table: Table) -> list[str]:
        used = {self.label, self.client, self.test_column, *_listed(self.drop)}
        found = _listed(self.features) or [name for name in table.columns if name not in used]
        found = [*found, *(name for name in _listed(self.categorical) if name not in found)]
        if not found:
            raise custom_file_error(table.place(0)[0], "no column is left for features")
        return found

    def one_hot(self, table: Table, name: str) -> bool:
        """Whether the values of a feature become columns of 0 and 1."""
        return name in _listed(self.categorical)

    def _matrix(self, table: Table, features: Sequence[str]) -> np.ndarray:
        parts: list[Any] = []
        for name in features:
            parts.append(indicators(table, name)[1] if self.one_hot(table, name) else numbers(table, name)[:, None])
        return np.concatenate(parts, axis=1)


def _listed(names: str | list[str] | None) -> list[str]:
    """The columns of an option, of which one may be named alone."""
    return [names] if isinstance(names, str) else names or []


def _joined(tables: Sequence[Table], paths: Sequence[Path]) -> Table:
    """Rows to train on, then rows to test on. Raises UserError if the two tables have other columns."""
    import pyarrow as pa

    first, second = tables
    if set(first.columns) != set(second.columns):
        name = next(iter(set(first.columns) ^ set(second.columns)))
        has, lacks = (paths[0], paths[1]) if name in first.columns else (paths[1], paths[0])
        raise custom_file_error(
            lacks, f"there is no column {name!r}, which {has} has: the two files must have the same columns"
        )

    def chunks(column: Any) -> list[Any]:
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        return column.chunks if isinstance(column, pa.ChunkedArray) else [column]

    columns = {}
    for name in first.columns:
        parts = [*chunks(first.columns[name]), *chunks(second.columns[name])]
        try:
            joined = pa.concat_arrays(_alike(parts))
            columns[name] = joined.dictionary_encode() if pa.types.is_dictionary(first.columns[name].type) else joined
        except pa.ArrowException:
            raise custom_file_error(paths[1], f"column {name!r} is of another type than in {paths[0]}") from None
    count = first.rows
    return Table(columns=columns, place=lambda row: first.place(row) if row < count else second.place(row - count))


def _alike(parts: list[Any]) -> list[Any]:
    """Arrays of one type; numbers become double precision where their types differ."""
    import pyarrow as pa

    kinds = {str(part.type) for part in parts}
    if len(kinds) == 1:
        return parts
    if all(pa.types.is_string(part.type) or pa.types.is_large_string(part.type) for part in parts):
        return [part.cast(pa.string()) for part in parts]
    return [part.cast(pa.float64()) for part in parts]
