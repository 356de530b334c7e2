"""Result files: written whole or not at all; Parquet with JSON metadata."""

import contextlib
import json
from pathlib import Path

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


def write(path, frame, meta):
    """Write a DataFrame and its metadata as one Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    frame = frame.copy(deep=False)
    frame.attrs = {}
    table = pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata({META: json.dumps(meta)})
    with atomic(path) as temporary:
        pq.write_table(table, temporary)


def read(path):
    """(DataFrame, metadata) of a file that write() made. Raises UserError if it is not one."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
        return table.to_pandas(), json.loads(table.schema.metadata[META])
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
