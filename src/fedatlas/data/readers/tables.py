"""Readers of tables in CSV and Parquet, which pandas and pyarrow parse: label, clients, test rows and features."""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fedatlas.data.readers.custom_reader import CustomReader, Samples, find_fraction
from fedatlas.errors import UserError, did_you_mean
from fedatlas.registry.options import option

if TYPE_CHECKING:
    import pandas as pd

MISSING = {"", "na", "n/a", "nan", "null", "none", "?"}  # cells without a value, in small letters
USES = ("label", "client", "test_column", "drop", "features", "categorical")  # options that name columns
MOST_CATEGORIES = 1000  # of a column that becomes one column of 0 and 1 for each of its values
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
        for use in USES:
            for name in _names(getattr(self, use)):
                other = uses.setdefault(name, use)
                if other != use and (other, use) != ("features", "categorical"):
                    raise UserError(f"column {name!r} is named under {other} and {use}: one column has one use")

    @abstractmethod
    def table(self, path: Path) -> "pd.DataFrame":
        """Return the table of a file. Raises ValueError or OSError if it is none."""

    def load(self, paths: Sequence[Path]) -> Samples:
        table = _Table(self, paths)
        for use in USES:
            for name in _names(getattr(self, use)):
                if name not in table.frame:
                    hint = did_you_mean(name, list(table.frame))
                    raise UserError(f"{paths[0]}: {use}: there is no column {name!r}{hint}")
        used = {self.label, self.client, self.test_column, *_names(self.drop)}
        features = _names(self.features) or [name for name in table.frame if name not in used]
        features = list(dict.fromkeys([*features, *_names(self.categorical)]))
        if not features:
            raise UserError(f"{paths[0]}: no column is left for features")
        note = f"The label is the column {self.label}."
        if self.missing == "drop" and (count := table.drop_incomplete([*features, self.label, *_names(self.client)])):
            note += f" {count:,} rows without a value are left out."
        one_hot = {*_names(self.categorical), *table.categorical}
        columns = [table.indicators(name) if name in one_hot else table.numbers(name)[:, None] for name in features]
        test = table.frame.index.get_level_values(0) == 1 if len(paths) > 1 else None
        if self.test_column is not None:
            if test is not None:
                raise UserError(f"{paths[0]}: test_column and test_file exclude one another")
            test = table.tests(self.test_column)
        return Samples(
            X=np.concatenate(columns, axis=1),
            y=table.labels(self.label),
            owner=None if self.client is None else table.labels(self.client),
            test=test,
            note=note,
        )


@dataclass(frozen=True, kw_only=True)
class Csv(Tabular):
    """A CSV file in UTF-8 with a header, plain or compressed (.gz, .bz2, .xz)."""

    name = "csv"
    endings = (".csv", ".tsv")

    separator: str | None = option(None, doc="character between cells; by default a tab in .tsv, otherwise a comma")
    columns: list[str] | None = option(
        None, doc="names of the columns of a file that has no header", filled=True, distinct=True
    )

    def table(self, path: Path) -> "pd.DataFrame":
        import pandas as pd

        separator = self.separator or ("\t" if ".tsv" in path.suffixes else ",")
        # all cells are text until their use is known, so that 007 stays 007
        frame = pd.read_csv(path, sep=separator, header=None, dtype=str, keep_default_na=False, encoding="utf-8-sig")
        if self.columns is not None:
            return frame.set_axis(self.columns, axis=1)
        header = frame.iloc[0].str.strip()
        if pd.to_numeric(header, errors="coerce").notna().all():
            raise ValueError("the header holds numbers alone: name the columns of a file without one under columns")
        return frame[1:].set_axis(list(header), axis=1)


@dataclass(frozen=True, kw_only=True)
class Parquet(Tabular):
    """A Parquet file. A feature of a categorical type becomes columns of 0 and 1 without being named."""

    name = "parquet"
    endings = (".parquet", ".pq")

    def table(self, path: Path) -> "pd.DataFrame":
        from pyarrow import parquet

        with parquet.ParquetFile(path, page_checksum_verification=True) as file:
            table = file.read()
        table.validate(full=True)
        frame = table.to_pandas(ignore_metadata=True, integer_object_nulls=True)
        return frame.loc[:, [not str(name).startswith("__index_level_") for name in frame]]


class _Table:
    """The rows of one file or two. A fault in a cell is an error with file, row and column.

    The rows of ``frame`` are indexed by the number of their file and their own number in it.
    """

    def __init__(self, reader: Tabular, paths: Sequence[Path]) -> None:
        import pandas as pd

        self.paths = paths
        frames: list[pd.DataFrame] = []
        for path in paths:
            try:
                frame = reader.table(path)
            except Exception as error:  # parsers and decompressors raise all kinds of errors
                raise UserError(f"{path}: cannot be read as {reader.name}: {' '.join(str(error).split())}") from None
            if not frame.columns.is_unique:
                name = frame.columns[frame.columns.duplicated()][0]
                raise UserError(f"{path}: two columns are called {name!r}: rename one")
            if frame.empty:
                raise UserError(f"{path}: holds no rows")
            frames.append(frame.set_axis(range(1, len(frame) + 1)))
            if other := set(frame.columns) ^ set(frames[0].columns):
                fault = f"only one of the two files has the column {min(other)!r}: both must have the same columns"
                raise UserError(f"{path}: {fault}")
        self.categorical = list(frames[0].select_dtypes("category"))
        self.classes = (reader.label, reader.client)  # a class may be called none
        self.frame = pd.concat(frames, keys=range(len(frames)))

    def drop_incomplete(self, names: Iterable[str]) -> int:
        """Drop the rows that lack a value in one of some columns, and return their number."""
        incomplete = np.logical_or.reduce([self._column(name).isna() for name in names])
        if incomplete.all():
            raise UserError(f"{self.paths[0]}: missing: drop leaves no row: every one lacks a value")
        self.frame = self.frame[~incomplete]
        return int(incomplete.sum())

    def numbers(self, name: str) -> np.ndarray:
        """Return a feature as float64 (n,). Raises UserError at the first cell that is not a finite number."""
        import pandas as pd

        column = words = self._complete(name)
        if column.dtype.kind == "O" and column.str.lower().isin(["true", "false"]).all():
            words = column.str.lower().replace({"true": "1", "false": "0"})
        values: np.ndarray = pd.to_numeric(words, errors="coerce").to_numpy(np.float64, na_value=np.nan)
        if np.isfinite(values).all():
            return values
        row = int(np.argmin(np.isfinite(values)))
        raise self._error(
            row,
            f"column {name!r} holds {str(column.iloc[row])[:40]!r}, which is no finite number: name the column under "
            "categorical to make a column of 0 and 1 of each of its values, or under drop",
        )

    def labels(self, name: str) -> np.ndarray:
        """Return the cells of a column of classes, clients or categories.

        Returns:
            Whole numbers if all cells are whole numbers, otherwise text, (n,).

        Raises:
            UserError: At the first cell that is missing, or has digits after the point in a column of numbers.
        """
        import pandas as pd

        column = self._complete(name)
        values = column.to_numpy()
        if column.dtype.kind == "O":
            values = pd.to_numeric(column, errors="coerce").to_numpy()
            if not np.isfinite(values).all() or column.str.match(r"[+-]?0\d").any():  # 007 and 7 are two names
                return column.to_numpy(object).astype(str)
        if values.dtype.kind in "iu":
            return values
        if values.dtype.kind == "f" and (fraction := find_fraction(values)) is not None:
            raise self._error(
                fraction, f"column {name!r} holds {values[fraction]:g}: it must be whole numbers, or text"
            )
        return values.astype(np.int64)

    def indicators(self, name: str) -> np.ndarray:
        """Return 1 where a row has a value of a categorical column, for its values in sorted order, (n, values)."""
        values, positions = np.unique(self.labels(name), return_inverse=True)
        if len(values) > MOST_CATEGORIES:
            fault = f"column {name!r} has {len(values):,} different values, which are not categories"
            raise UserError(f"{self.paths[0]}: {fault}")
        return np.asarray(positions[:, None] == np.arange(len(values)), np.float64)

    def tests(self, name: str) -> np.ndarray:
        """Return whether each row tests, (n,), by a column of ``train`` and ``test``, 0 and 1, or false and true."""
        words = [str(word).lower() for word in self.labels(name).tolist()]
        for row, word in enumerate(words):
            if word not in _TEST_WORDS:
                raise self._error(row, f"column {name!r} holds {word!r}: it must be train or test, or 0 or 1")
        return np.array([_TEST_WORDS[word] for word in words])

    def _column(self, name: str) -> "pd.Series[Any]":
        """Return a column of numbers, or of text without surrounding spaces. A cell without a value is missing."""
        column = self.frame[name].infer_objects()  # true and false beside nulls are objects
        if column.dtype.kind not in "biufO":
            fault = f"column {name!r} is of the type {column.dtype}: make it numbers or text, or drop it"
            raise UserError(f"{self.paths[0]}: {fault}")
        if column.dtype.kind != "O":
            return column
        words = column.astype(object).where(column.notna(), "").astype(str).str.strip()
        kept = {"none"} if name in self.classes else set()
        return words.mask(words.str.lower().isin(MISSING - kept))

    def _complete(self, name: str) -> "pd.Series[Any]":
        """Return a column. Raises UserError at the first cell without a value."""
        column = self._column(name)
        if column.isna().any():
            fault = "fill it, name the column under drop, or say missing: drop to leave out rows without a value"
            raise self._error(int(np.argmax(column.isna())), f"column {name!r} has no value: {fault}")
        return column

    def _error(self, row: int, fault: str) -> UserError:
        file, number = self.frame.index[row]
        return UserError(f"{self.paths[file]}: row {number}: {fault}")


def _names(value: str | list[str] | None) -> list[str]:
    """Return the columns of an option, which may be one name."""
    return [value] if isinstance(value, str) else value or []
