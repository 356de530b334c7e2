"""Result files: Parquet with JSON metadata and checksums of the numbers, written whole or not at all."""

import contextlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fedatlas.errors import UserError
from fedatlas.experiments.cells import CellSpec, Search
from fedatlas.io.files import atomic
from fedatlas.io.text import require_file

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


Environment = dict[str, str]  # what computed a run, see `fedatlas.io.machine.environment`
CIRCUMSTANCES = ("machine", "commit", "clock")  # of an environment, which change no number


def versions(environments: Iterable[Environment]) -> dict[str, str]:
    """Return what may change numbers in environments: versions, processor, device. Several stand side by side."""
    values: dict[str, dict[str, None]] = {}
    for environment in environments:
        for name, value in environment.items():
            if name not in CIRCUMSTANCES:
                values.setdefault(name, {})[value] = None
    return {name: " and ".join(texts) for name, texts in values.items()}


def distinct(environments: Iterable[Environment]) -> list[Environment]:
    """Return environments, each once."""
    result: list[Environment] = []
    for environment in environments:  # of as many runs as a file holds, which a search in all before would take minutes
        if environment not in result:
            result.append(environment)
    return result


def count_environments(environments: Iterable[Environment]) -> int:
    """Return the number of environments that may compute different numbers."""
    return len({json.dumps(versions([environment]), sort_keys=True) for environment in environments})


@dataclass(frozen=True)
class RunMeta:
    """The metadata of a run file.

    Attributes:
        spec: Specification of the cell.
        fingerprint: Fingerprint of the code behind the numbers.
        environments: Environments that computed the runs: versions, processor and device, clock of the seconds.
        computed: For each run, in the order of the rows, the position of its environment.
        data: Provenance of each data set.
        traces: Checksums of availability traces by path.
        searches: Searches at the points within, where there is a choice.
        recorded: Whether the file comes from a record.
        unverified: Whether it comes from a record, and no verification holds for the code that runs.
    """

    spec: CellSpec
    fingerprint: str
    environments: list[Environment]
    computed: list[int] = field(default_factory=list)
    data: dict[str, dict[str, Any]] = field(default_factory=dict)
    traces: dict[str, str] = field(default_factory=dict)
    searches: list[Search] = field(default_factory=list)
    recorded: bool = False
    unverified: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the metadata as JSON types."""
        return {**vars(self), "spec": self.spec.to_dict(), "searches": [search.to_dict() for search in self.searches]}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> "RunMeta":
        """Return the metadata that `to_dict` turned into JSON types."""
        with _explain_metadata():
            searches = [Search.from_dict(search) for search in content.get("searches", ())]
            return cls(**{**content, "spec": CellSpec.from_dict(content["spec"]), "searches": searches})


@dataclass(frozen=True)
class TableMeta:
    """The metadata of a table.

    Attributes:
        environments: Environments of the run files, each once.
        data: Provenance of data sets, of the run files.
        fingerprints: Fingerprint of the code by the algorithm's id.
        runs: Number of runs.
        diverged_runs: Number of runs that diverged.
        seconds: Training time of all runs together.
        files: Paths of the run files, in the folder of the experiment's results.
        recorded: Number of them that come from a record.
        unverified: Number of those for which no verification holds with the code that runs.
    """

    environments: list[Environment]
    data: dict[str, dict[str, Any]]
    fingerprints: dict[str, str]
    runs: int
    diverged_runs: int
    seconds: float
    files: list[str] = field(default_factory=list)
    recorded: int = 0
    unverified: int = 0

    @property
    def origin(self) -> str:
        """How many cells come from the record, in words; empty if none does."""
        return f"{self.recorded} of {len(self.files)} cells from the record" if self.recorded else ""

    def to_dict(self) -> dict[str, Any]:
        """Return the metadata as JSON types."""
        return asdict(self)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> "TableMeta":
        """Return the metadata that `to_dict` turned into JSON types."""
        with _explain_metadata():
            return cls(**content)


@contextlib.contextmanager
def _explain_metadata() -> Iterator[None]:
    """Turn what metadata of another form raise into a UserError."""
    try:
        yield
    except (TypeError, LookupError, AttributeError, ValueError) as error:
        raise UserError(f"a result file has other metadata ({error}): delete it and run again") from None


META, SCHEMA = b"fedatlas", b"fedatlas schema"


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

    with _explain(path):
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

    with _explain(path):
        return json.loads(pq.read_schema(path).metadata[META])


@contextlib.contextmanager
def _explain(path: str | Path) -> Iterator[None]:
    """Turn what other files raise into a UserError."""
    import pyarrow as pa

    require_file(path)
    try:
        yield
    except (pa.ArrowException, OSError, TypeError, KeyError, ValueError, AttributeError) as error:
        raise UserError(f"{path} is not a result file of fedatlas ({error}); delete it and run again") from None
