"""Result files: written whole or not at all; Parquet with JSON metadata."""

import contextlib
import json
from pathlib import Path

import numpy as np

from fedatlas.errors import UserError

META = b"fedatlas"


@contextlib.contextmanager
def atomic(path):
    """A temporary path beside ``path`` that takes its place when the block ends well. Raises UserError if it cannot."""
    path = Path(path)
    temporary = path.with_name(f".tmp-{path.name}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        temporary.replace(path)
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror or error}") from None
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def write(path, content, meta):
    """Write a DataFrame, or rows, and metadata as one Parquet file.

    Rows are dicts of text, numbers and lists of numbers. One that lacks a number has NaN, one that lacks a list None.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    if isinstance(content, list):
        names = dict.fromkeys(name for row in content for name in row)
        table = pa.table({name: _column([row.get(name) for row in content]) for name in names})
    else:
        content = content.copy(deep=False)
        content.attrs = {}
        table = pa.Table.from_pandas(content, preserve_index=False)
    with atomic(path) as temporary:
        pq.write_table(table.replace_schema_metadata({META: json.dumps(meta)}), temporary)


def _column(values):
    """An Arrow array. ``pa.array`` would import pandas to see what it is given, a third of a start."""
    import pyarrow as pa

    some = next(value for value in values if value is not None)
    if isinstance(some, str):
        texts = [value.encode() for value in values]
        ends = np.cumsum([0, *map(len, texts)], dtype=np.int32)
        return pa.Array.from_buffers(pa.string(), len(texts), [None, *map(pa.py_buffer, (ends, b"".join(texts)))])
    if np.ndim(some):
        return pa.array(values)
    numbers = np.array([np.nan if value is None else value for value in values])
    bits = np.packbits(numbers, bitorder="little") if numbers.dtype == bool else numbers
    return pa.Array.from_buffers(pa.from_numpy_dtype(numbers.dtype), len(numbers), [None, pa.py_buffer(bits)])


def read(path):
    """(DataFrame, metadata) of a file that write() made. Raises UserError if it is not one."""
    table, meta = _table(path)
    return table.to_pandas(), meta


def read_rows(path):
    """As ``read``, but rows instead of a DataFrame."""
    table, meta = _table(path)
    return table.to_pylist(), meta


def _table(path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
        return table, json.loads(table.schema.metadata[META])
    except FileNotFoundError:
        raise UserError(f"{path} does not exist") from None
    except (pa.ArrowException, OSError, TypeError, KeyError, ValueError) as error:
        raise UserError(f"{path} is not a result file of fedatlas ({error}); delete it and run again") from None


def read_meta(path):
    """The metadata of a file that write() made. Raises UserError if it is not one."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return json.loads(pq.read_schema(path).metadata[META])
    except (pa.ArrowException, OSError, TypeError, KeyError, ValueError) as error:
        raise UserError(f"{path} is not a result file of fedatlas ({error}); delete it and run again") from None


def plain(value):
    """A value as a cell of a table: mappings and lists as JSON text."""
    return json.dumps(value, sort_keys=True) if isinstance(value, (dict, list)) else value
