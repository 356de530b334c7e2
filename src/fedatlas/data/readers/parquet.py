"""Parquet: tables whose columns have types."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from fedatlas.data.errors import custom_file_error
from fedatlas.data.readers.columns import Table
from fedatlas.data.readers.tabular import Tabular
from fedatlas.errors import UserError


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
                if repeated := next((name for name in names if names.count(name) > 1), None):
                    raise custom_file_error(path, f"two columns are called {repeated!r}: rename one")
                found = file.read()
            columns = {name: _combined(found.column(name)) for name in names}
        except UserError:
            raise
        except (pa.ArrowException, OSError, ValueError) as error:
            raise custom_file_error(
                path, f"is not a readable Parquet file ({' '.join(str(error).split())[:200]})"
            ) from None
        return Table(columns=columns, place=lambda row: (path, None))

    def one_hot(self, table: Table, name: str) -> bool:
        import pyarrow as pa

        return super().one_hot(table, name) or pa.types.is_dictionary(table.columns[name].type)


def _combined(column: Any) -> Any:
    """A column as one array, whose text is valid and whose categories are there. Raises ArrowInvalid otherwise."""
    found = column.unify_dictionaries().combine_chunks()
    found.validate(full=True)
    return found
