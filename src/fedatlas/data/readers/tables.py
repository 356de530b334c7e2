"""Readers of tables in CSV and Parquet, which pandas and pyarrow parse: label, clients and features."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fedatlas.data.readers.custom_reader import CustomReader, Samples
from fedatlas.errors import UserError, did_you_mean
from fedatlas.registry.options import option

if TYPE_CHECKING:
    import pandas as pd

USES = ("label", "client", "features", "drop", "categorical")  # options that name columns


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

    @abstractmethod
    def table(self, path: Path) -> "pd.DataFrame":
        """Return the table of a file. Raises any exception if it is none."""

    def load(self, paths: Sequence[Path]) -> Samples:
        import pandas as pd

        frames: list[pd.DataFrame] = []
        for path in paths:
            try:
                frames.append(self.table(path).reset_index(drop=True))
                _expect_different(frames[-1].columns.to_series())
            except Exception as error:  # parsers and decompressors raise all kinds of errors
                raise UserError(f"{path}: cannot be read as {self.name}: {' '.join(str(error).split())}") from None
        frame = pd.concat(frames, keys=paths)  # a row has its file and its number there
        for use in USES:
            for name in _names(getattr(self, use)):
                if name not in frame:
                    raise UserError(f"{paths[0]}: {use}: there is no column {name!r}{did_you_mean(name, list(frame))}")
        used: dict[Any, str] = {self.label: "label", self.client: "client"}
        used |= dict.fromkeys(_names(self.drop), "drop")
        for name in filter(used.__contains__, [*_names(self.features), *_names(self.categorical)]):
            raise UserError(f"{paths[0]}: the column {name!r} is no feature, but named under {used[name]}")
        features = _names(self.features) or [name for name in frame if name not in used]
        features = list(dict.fromkeys([*features, *_names(self.categorical)]))
        if not features:
            raise UserError(f"{paths[0]}: no column is left for features")
        one_hot = {*_names(self.categorical), *frames[0].select_dtypes("category")}
        columns = [_indicators(frame[name]) if name in one_hot else _numbers(frame[name]) for name in features]
        return Samples(
            X=np.column_stack(columns),
            y=_classes(frame[self.label]),
            owner=None if self.client is None else _classes(frame[self.client]),
            test=np.arange(len(frame)) >= len(frames[0]) if len(paths) > 1 else None,
        )


@dataclass(frozen=True, kw_only=True)
class Csv(Tabular):
    """A CSV file in UTF-8 with a header, plain or compressed (.gz, .bz2, .xz)."""

    name = "csv"
    endings = (".csv", ".tsv")

    separator: str | None = option(None, doc="character between cells; by default a tab in .tsv, otherwise a comma")

    def table(self, path: Path) -> "pd.DataFrame":
        import pandas as pd

        separator = self.separator or ("\t" if ".tsv" in path.suffixes else ",")
        options: Any = {"sep": separator, "skipinitialspace": True}
        frame = pd.read_csv(path, low_memory=False, **options)
        if not isinstance(frame.index, pd.RangeIndex):
            raise ValueError("rows have more cells than the header")
        header = pd.read_csv(path, header=None, nrows=1, dtype=str, keep_default_na=False, **options).iloc[0]
        _expect_different(header[header != ""])  # pandas calls a second label y y.1, and it would be a feature
        return frame


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
        return table.to_pandas()


def _expect_different(names: "pd.Series[Any]") -> None:
    if names.duplicated().any():
        raise ValueError(f"two columns are called {names[names.duplicated()].iloc[0]!r}")


def _numbers(column: "pd.Series[Any]") -> np.ndarray:
    """Return a feature as float64 (n,). Raises UserError at the first cell that is not a finite number."""
    import pandas as pd

    cells = column.astype(str) if column.dtype.kind in "mM" else column  # pandas takes times for numbers
    values: np.ndarray = pd.to_numeric(cells, errors="coerce").to_numpy(np.float64, na_value=np.nan)
    if np.isfinite(values).all():
        return values
    raise _error(
        column,
        np.isfinite(values),
        "which is no finite number: name the column under categorical to make a column of 0 and 1 of each of its "
        "values, or under drop",
    )


def _classes(column: "pd.Series[Any]") -> np.ndarray:
    """Return a column of classes or clients as numbers or text (n,). Raises UserError at the first empty cell."""
    if column.isna().any():
        raise _error(column, column.notna(), "and a row needs a label and a client")
    values = column.to_numpy()
    return values if values.dtype.kind in "biuf" else values.astype(str)


def _indicators(column: "pd.Series[Any]") -> np.ndarray:
    """Return 1 where a row has a value of a column, for its values in sorted order, (n, values)."""
    values, positions = np.unique(_classes(column), return_inverse=True)
    return np.asarray(positions[:, None] == np.arange(len(values)), np.float64)


def _error(column: "pd.Series[Any]", fits: Any, fault: str) -> UserError:
    """Return the error about the first cell that does not fit, with its file and row."""
    index = int(np.argmin(fits))
    path, row = column.index[index]
    return UserError(f"{path}: row {row + 1}: column {column.name!r} holds {str(column.iloc[index])[:40]!r}, {fault}")


def _names(value: str | list[str] | None) -> list[str]:
    """Return the columns of an option, which may be one name."""
    return [value] if isinstance(value, str) else value or []
