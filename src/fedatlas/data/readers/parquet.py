"""Parquet: tables whose columns have types."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from fedatlas.data.errors import custom_file_error
from fedatlas.data.readers.columns import Table
from fedatlas.data.readers.tabular import Tabular, find_duplicate
from fedatlas.errors import UserError
from fedatlas.io import machine


@dataclass(frozen=True, kw_only=True)
class Parquet(Tabular):
    """A Parquet file. A feature of a categorical type becomes columns of 0 and 1 without being named."""

    name = "parquet"
    endings: ClassVar[tuple[str, ...]] = (".parquet", ".pq")

    def table(self, path: Path) -> Table:
        import pyarrow as pa
        from pyarrow import parquet

        try:
            with parquet.ParquetFile(path) as file:
                names = [name for name in file.schema_arrow.names if not name.startswith("__index_level_")]
                if (name := find_duplicate(names)) is not None:
                    fault = f"two columns are called {name!r}: rename one" if name else "two columns have no name"
                    raise custom_file_error(path, fault)
                need = 8 * file.metadata.num_rows * len(names)
                machine.require_memory(2 * need, f"{path}", "keep fewer rows or columns")
                table = file.read()
            columns = {name: _combine(table.column(name)) for name in names}
        except UserError:
            raise
        except (pa.ArrowException, OSError, ValueError) as error:
            words = " ".join(str(error).split())[:200]
            raise custom_file_error(path, f"is not a readable Parquet file ({words})") from None
        return Table(columns=columns, locate=lambda row: (path, None))

    def one_hot(self, table: Table, name: str) -> bool:
        import pyarrow as pa

        return super().one_hot(table, name) or pa.types.is_dictionary(table.columns[name].type)


def _combine(column: Any) -> Any:
    """Return a column as one array. Raises ArrowInvalid if its text is not valid, or a category is missing."""
    array = column.unify_dictionaries().combine_chunks()
    array.validate(full=True)
    return array
