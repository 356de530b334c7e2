"""Readers of tables: CSV, Parquet and OpenML. pandas and pyarrow parse them; their words on a broken file are shown."""

import csv
import io
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from fedatlas.data.errors import custom_file_error
from fedatlas.data.readers.custom_reader import Samples, read_chunks
from fedatlas.data.readers.tabular import Tabular, parse_number
from fedatlas.errors import UserError
from fedatlas.io import machine
from fedatlas.io.files import atomic
from fedatlas.registry.options import option

if TYPE_CHECKING:
    import pandas as pd

_TARGET = b"fedatlas target"  # key of the column that OpenML calls the target, in the file's metadata


@dataclass(frozen=True, kw_only=True)
class Csv(Tabular):
    """A CSV file in UTF-8 with a header, plain or compressed (.gz, .bz2, .xz)."""

    name = "csv"
    endings = (".csv", ".tsv")

    separator: str | None = option(
        None, doc="one character of ASCII between cells; by default a tab in .tsv, otherwise a comma"
    )
    columns: list[str] | None = option(
        None, doc="names of the columns of a file that has no header", filled=True, distinct=True
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.separator is not None and not re.fullmatch(r"[\x01-\x7f]", re.sub(r'["\r\n]', "", self.separator)):
            raise UserError(f"separator is {self.separator!r}; it must be one character of ASCII, and no quote")

    def table(self, path: Path) -> "pd.DataFrame":
        import pandas as pd

        separator = self.separator or ("\t" if ".tsv" in path.suffixes else ",")
        content = b"".join(read_chunks(path))
        if b"\0" in content:
            raise custom_file_error(path, "holds a zero byte, which text does not have")
        try:  # all cells are text until their use is known, so that 007 stays 007
            frame = pd.read_csv(
                io.BytesIO(content), sep=separator, header=None, dtype=str, keep_default_na=False, encoding="utf-8-sig"
            )
        except (ValueError, OverflowError) as error:  # pandas' errors are ValueErrors
            raise custom_file_error(path, f"is not CSV in UTF-8: {' '.join(str(error).split())}") from None
        if (short := _find_short(content, separator, frame.shape[1])) is not None:
            row, cells = short  # which pandas would fill with empty cells
            fault = f"row {row + (self.columns is not None)} is short: it has {cells} of {frame.shape[1]} cells"
            raise custom_file_error(path, fault)
        if self.columns is None:
            names = list(map(str.strip, frame.iloc[0]))
            if np.isfinite([parse_number(name) for name in names]).all():
                fault = "the header holds numbers alone: name the columns of a file without a header under columns"
                raise custom_file_error(path, fault)
            return frame[1:].set_axis(names, axis=1)
        if len(self.columns) != frame.shape[1]:
            raise custom_file_error(path, f"has {frame.shape[1]} columns, and columns names {len(self.columns)}")
        return frame.set_axis(self.columns, axis=1)


def _find_short(content: bytes, separator: str, count: int) -> tuple[int, int] | None:
    """Return the first row of CSV, from 0, with fewer cells than there are columns, and their number; or None."""
    csv.field_size_limit(max(csv.field_size_limit(), len(content)))
    text = io.TextIOWrapper(io.BytesIO(content), "utf-8-sig", newline="")
    rows = (row for row in csv.reader(text, delimiter=separator) if row and (len(row) > 1 or row[0].strip()))
    return next(((number, len(row)) for number, row in enumerate(rows) if len(row) < count), None)


@dataclass(frozen=True, kw_only=True)
class Parquet(Tabular):
    """A Parquet file. A feature of a categorical type becomes columns of 0 and 1 without being named."""

    name = "parquet"
    endings: ClassVar[tuple[str, ...]] = (".parquet", ".pq")

    def table(self, path: Path) -> "pd.DataFrame":
        import pyarrow as pa
        from pyarrow import parquet

        try:
            with parquet.ParquetFile(path, page_checksum_verification=True) as file:
                cells = file.metadata.num_rows * file.metadata.num_columns
                machine.require_memory(16 * cells, f"{path}", "keep fewer rows or columns")
                frame = file.read().to_pandas(ignore_metadata=True, integer_object_nulls=True)
            return frame.loc[:, [not str(name).startswith("__index_level_") for name in frame]]
        except (pa.ArrowException, OSError, ValueError) as error:
            words = " ".join(str(error).split())[:200]
            raise custom_file_error(path, f"is not a readable Parquet file ({words})") from None

    def one_hot(self, column: "pd.Series[Any]", name: str) -> bool:
        import pandas as pd

        return super().one_hot(column, name) or isinstance(column.dtype, pd.CategoricalDtype)


@dataclass(frozen=True, kw_only=True)
class OpenML(Parquet):
    """A table of OpenML by its name or number. Nominal features become columns of 0 and 1."""

    name = "openml"
    endings = ()

    openml: str | int = option(doc="name or number of the data set at openml.org")
    version: int | None = option(None, doc="version of a name; by default the one that OpenML calls active", low=1)
    label: str | None = option(  # type: ignore[assignment]
        None, doc="column of the classes; by default OpenML's target"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.openml, int) and self.version is not None:
            raise UserError(f"openml: the number {self.openml} already names one version: leave version out")

    def fetch(self, folder: Path) -> Path:
        stem = re.sub(r"[^\w.+-]", "_", str(self.openml))
        path = folder / f"{stem}-{self.version or 'active'}.parquet"
        if path.exists():
            return path
        import pyarrow as pa
        from pyarrow import parquet
        from sklearn.datasets import fetch_openml

        query: dict[str, Any] = {"data_id": self.openml}
        if not isinstance(self.openml, int):
            query = {"name": self.openml, "version": self.version or "active"}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of several active versions: the version can be given
                bunch = fetch_openml(**query, as_frame=True, data_home=str(folder / "scikit-learn"))
            table = pa.Table.from_pandas(bunch.frame, preserve_index=False)
        except Exception as error:  # of the network, of OpenML's answers, of scikit-learn's parsers
            reason = " ".join(str(error).split())[:300] or type(error).__name__
            raise UserError(
                f"the data set {self.openml!r} of OpenML cannot be fetched ({reason}): check its name and the network"
            ) from None
        target = str(bunch.target_names[0]) if len(bunch.target_names) == 1 else ""
        table = table.replace_schema_metadata({**(table.schema.metadata or {}), _TARGET: target.encode()})
        with atomic(path) as temporary:
            parquet.write_table(table, temporary)
        return path

    def load(self, paths: Sequence[Path]) -> Samples:
        if self.label is not None:
            return super().load(paths)
        from pyarrow import parquet

        metadata = parquet.read_schema(paths[0]).metadata or {}
        if not (target := metadata.get(_TARGET, b"").decode()):
            raise custom_file_error(paths[0], "OpenML names no single target: say which column is the label")
        return replace(self, label=target).load(paths)
