"""Result files: Parquet with JSON metadata and checksums of the numbers, written whole or not at all."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fedatlas.errors import UserError
from fedatlas.io.files import atomic, require_file

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


META, SCHEMA = b"fedatlas", b"fedatlas schema"
FOREIGN = "is not a result file of fedatlas"


def write(path: str | Path, content: "pd.DataFrame | list[dict[str, Any]]", meta: dict[str, Any]) -> None:
    """Write a DataFrame, or rows, and metadata as one Parquet file.

    Args:
        path: Path of the file.
        content: DataFrame, or rows: dicts of text, numbers and lists of numbers. A row that lacks a number gets NaN,
            one that lacks a list None.
        meta: Metadata as JSON types.
    """
    import pyarrow as pa

    if isinstance(content, list):
        names = dict.fromkeys(name for row in content for name in row)
        table = pa.table({name: _column([row.get(name) for row in content]) for name in names})
    else:
        content = content.copy(deep=False)
        content.attrs = {}
        table = pa.Table.from_pandas(content, preserve_index=False)
    write_table(path, table, meta)


def write_table(path: str | Path, table: "pa.Table", meta: dict[str, Any]) -> None:
    """Write a table of Arrow and metadata, as ``write`` does rows."""
    import pyarrow.parquet as pq

    with atomic(path) as temporary:
        notes = {SCHEMA: _columns(table.schema), META: json.dumps(meta)}
        pq.write_table(table.replace_schema_metadata(notes), temporary, write_page_checksum=True)


def _column(values: list[Any]) -> "pa.Array":
    """An Arrow array. ``pa.array`` would import pandas to see what it is given, a third of a start."""
    import pyarrow as pa

    sample = next(value for value in values if value is not None)
    if isinstance(sample, str):
        texts = [value.encode() for value in values]
        ends = np.cumsum([0, *map(len, texts)], dtype=np.int32)
        return pa.Array.from_buffers(pa.string(), len(texts), [None, *map(pa.py_buffer, (ends, b"".join(texts)))])
    if np.ndim(sample):
        return pa.array(values)
    numbers = np.array([np.nan if value is None else value for value in values])
    bits = np.packbits(numbers, bitorder="little") if numbers.dtype == bool else numbers
    return pa.Array.from_buffers(pa.from_numpy_dtype(numbers.dtype), len(numbers), [None, pa.py_buffer(bits)])


def read(path: str | Path) -> "tuple[pd.DataFrame, dict[str, Any]]":
    """Read the (DataFrame, metadata) that write() wrote. Raises UserError on any other file."""
    table, meta = read_table(path)
    return table.to_pandas(), meta


def read_table(path: str | Path) -> "tuple[pa.Table, dict[str, Any]]":
    """Read a table of Arrow and metadata. Raises UserError on any file that write() did not write."""
    import pyarrow.parquet as pq

    require_file(path)
    with explain(f"{path} {FOREIGN}"):
        with pq.ParquetFile(path, page_checksum_verification=True) as file:  # pq.read_table would import pandas
            table = file.read()
        if table.schema.metadata.get(SCHEMA) not in (None, _columns(table.schema).encode()):
            raise ValueError("its columns were changed")
        return table, json.loads(table.schema.metadata[META])


def _columns(schema: "pa.Schema") -> str:
    """Return the names and types of columns. Parquet renames the parts of a list, which are left out."""
    import pyarrow as pa

    return "\n".join(f"{field.name}: {'list' if pa.types.is_nested(field.type) else field.type}" for field in schema)


def read_meta(path: str | Path) -> dict[str, Any]:
    """Read the metadata that write() wrote. Raises UserError on any other file."""
    import pyarrow.parquet as pq

    require_file(path)
    with explain(f"{path} {FOREIGN}"):
        return json.loads(pq.read_schema(path).metadata[META])


@contextlib.contextmanager
def explain(subject: str) -> Iterator[None]:
    """Turn what other files and metadata raise into a UserError. subject: Clause that says what is wrong."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError, TypeError, LookupError, ValueError, AttributeError) as error:
        raise UserError(f"{subject} ({error}); delete it and run again") from None
