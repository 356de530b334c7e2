"""The record of an experiment at one size: its run files, in one Parquet file for each algorithm.

A row group holds the rows of one cell, as its job wrote them. The column ``cell`` repeats the metadata of the run file
as JSON: specification, fingerprint, data, versions, processor. Where one cell has a formula and another a number, a
hyper-parameter is text everywhere.
"""

import contextlib
import functools
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fedatlas.errors import UserError
from fedatlas.experiments.cells import RUNG, Cell, CellSpec
from fedatlas.experiments.dependencies import canonical
from fedatlas.experiments.result_files import write_table
from fedatlas.experiments.runs import RunMeta
from fedatlas.experiments.values import EXACT, cell_text, column_cells, parse_cell
from fedatlas.io.files import atomic

if TYPE_CHECKING:
    import pyarrow as pa

CELL = "cell"  # column of the metadata


@dataclass(frozen=True)
class RecordedCell:
    """A cell of a record.

    Attributes:
        path: File that holds it.
        group: Number of its row group.
        id: Id of the algorithm in the experiment.
        key: Name of the run file, without its suffix.
        plain: Metadata of the run file, as JSON types, with those of the source of each data set.
    """

    path: Path
    group: int
    id: str
    key: str
    plain: dict[str, Any]

    @functools.cached_property
    def meta(self) -> RunMeta:
        """Metadata of the run file."""
        return RunMeta.from_dict(
            {key: value for key, value in self.plain.items() if key not in ("id", "key", "some_rows")}
        )

    @property
    def spec(self) -> CellSpec:
        """Specification of the cell."""
        return self.meta.spec

    @functools.cached_property
    def digest(self) -> str:
        """Digest of the specification without its scoring seeds."""
        return digest(self.spec)

    @functools.cached_property
    def table(self) -> "pa.Table":
        """The rows of the run file. Raises UserError if the file was damaged."""
        import pyarrow as pa

        with _open(self.path) as file:
            stored = file.read_row_group(self.group).drop_columns([CELL])
            columns = {name: stored[name] for name in stored.column_names if stored[name].null_count < len(stored)}
            for axis, values in {**self.spec.within, **self.spec.tune}.items():
                if pa.types.is_string(columns[axis].type) and column_cells(values) is not cell_text:
                    cells = columns[axis].combine_chunks().dictionary_encode()
                    numbers = np.array([parse_cell(cell) for cell in cells.dictionary.to_pylist()])
                    numbers = numbers.astype(np.result_type(numbers, np.array(values)))
                    columns[axis] = pa.chunked_array([pa.array(numbers).take(cells.indices)])
            return pa.table(columns)

    @functools.cached_property
    def checksum(self) -> str:
        """Checksum (16 hex digits) of metadata and rows, however they are laid out in a file."""
        import pyarrow as pa

        sink = hashlib.sha256(json.dumps(self.plain, sort_keys=True).encode())
        for name in sorted(self.table.column_names):
            column = self.table[name].combine_chunks()
            sink.update(f"\n{name}\n".encode())
            if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
                numbers = column.to_numpy(zero_copy_only=False)
                # as another cell of the file may have made a column of whole numbers one of others
                is_exact = numbers.dtype.kind == "f" or np.abs(numbers).max(initial=0) <= EXACT
                sink.update((numbers.astype(float) if is_exact else numbers).tobytes())
            else:
                texts = column.dictionary_encode()
                sink.update(json.dumps(texts.dictionary.to_pylist()).encode() + texts.indices.to_numpy(False).tobytes())
        return sink.hexdigest()[:16]

    def write(
        self,
        out: str | Path,
        seeds: Sequence[int] | None = None,
        fingerprint: str | None = None,
        is_verified: bool = True,
    ) -> None:
        """Write the run file.

        Args:
            out: Path of the file.
            seeds: Scoring seeds that it holds; by default all.
            fingerprint: Fingerprint of the code that the file is for; by default that of the record.
            is_verified: Whether a verification holds for this code.
        """
        import pyarrow as pa

        seeds = list(self.spec.seeds if seeds is None else seeds)
        kept = ~np.isin(self.table["seed"].to_numpy(), [*({*self.spec.seeds} - {*seeds})])
        names = self.table.column_names
        of_run = [name for name in (*self.spec.within, *self.spec.tune, RUNG, "seed") if name in names]
        first = ~self.table.select(of_run).to_pandas().duplicated().to_numpy()
        meta = replace(
            self.meta,
            spec=replace(self.spec, seeds=seeds),
            fingerprint=self.meta.fingerprint if fingerprint is None else fingerprint,
            computed=[number for number, keep in zip(self.meta.computed, kept[first], strict=True) if keep],
            recorded=True,
            unverified=not is_verified,
        )
        write_table(out, self.table.filter(pa.array(kept)), meta.to_dict())


class Restoration(NamedTuple):
    """A run file that a record gives.

    Attributes:
        path: File of the record.
        key: Name of the run file, without its suffix.
        checksum: Checksum of the cell.
        seeds: Scoring seeds that it holds.
        fingerprint: Fingerprint of today's code.
        is_verified: Whether a verification holds for this code.
    """

    path: str
    key: str
    checksum: str
    seeds: list[int]
    fingerprint: str
    is_verified: bool

    def write(self, out: str | Path) -> None:
        """Write the run file. Raises UserError if the record was damaged or changed since it was looked at."""
        cell = next((cell for cell in read_file(Path(self.path)) if cell.key == self.key), None)
        if cell is None or cell.checksum != self.checksum:
            raise UserError(f"{self.path}: {self.key} has changed while this ran: run it again")
        cell.write(out, self.seeds, self.fingerprint, self.is_verified)


def digest(spec: CellSpec) -> str:
    """Return the digest of a cell's specification without its scoring seeds."""
    content = {key: value for key, value in canonical(spec).items() if key != "seeds"}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Record:
    """The record of an experiment at one size.

    Attributes:
        path: Its folder.
        cells: Its cells, by (algorithm's id, key).
    """

    path: Path
    cells: dict[tuple[str, str], RecordedCell]

    def find(self, cell: Cell) -> RecordedCell | None:
        """Return the cell that holds all runs of a cell, if there is one.

        Its specification is the same but for scoring seeds, of which it may have more.
        """
        held = self.cells.get((cell.id, cell.key))
        same = held is not None and held.digest == digest(cell.spec) and set(cell.spec.seeds) <= set(held.spec.seeds)
        return held if same else None


def read_record(folder: str | Path) -> Record:
    """Read a record without its rows.

    Raises:
        UserError: A file is not one of a record, or was damaged.
    """
    cells = [cell for path in sorted(Path(folder).glob("*.parquet")) for cell in read_file(path)]
    return Record(Path(folder), {(cell.id, cell.key): cell for cell in cells})


def read_file(path: Path) -> list[RecordedCell]:
    """Return the cells of an algorithm, without their rows. Raises UserError if the file was damaged."""
    cells: list[RecordedCell] = []
    with _open(path) as file:
        for group in range(file.num_row_groups):
            texts = file.read_row_group(group, columns=[CELL])[CELL].unique().to_pylist()
            plain = json.loads(texts[0])
            if len(texts) != 1 or plain["id"] != path.stem:
                raise ValueError("its cells are those of other files")
            if any(plain["key"] == cell.key for cell in cells):
                raise ValueError(f"the cell {plain['key']} stands twice")
            cells.append(RecordedCell(path, group, plain["id"], plain["key"], plain))
    return cells


@contextlib.contextmanager
def _open(path: Path) -> Iterator[Any]:
    """Open a file of a record, and turn the errors of a damaged one into a UserError."""
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path, page_checksum_verification=True, read_dictionary=[CELL]) as file:
            yield file
    except Exception as error:  # of Arrow, of JSON, of what is read from them
        if isinstance(error, UserError):
            raise
        raise UserError(f"{path} is not a record of fedatlas, or was damaged ({error}): check it out again") from None


def write_file(path: str | Path, cells: Sequence[tuple[Mapping[str, Any], "pa.Table"]]) -> None:
    """Write the cells of an algorithm.

    Args:
        path: Path of the file.
        cells: Metadata and rows of each cell.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    fields = [field for _, table in cells for field in table.schema]
    texts = {field.name for field in fields if pa.types.is_string(field.type) or pa.types.is_large_string(field.type)}
    tables = []
    for _, table in cells:
        columns = {name: _to_text(table[name]) if name in texts else table[name] for name in table.column_names}
        tables.append(pa.table(columns))
    schema = pa.unify_schemas([table.schema for table in tables], promote_options="permissive")
    dense = [field.name for field in schema if pa.types.is_floating(field.type)]
    with (
        atomic(path) as temporary,
        pq.ParquetWriter(
            temporary,
            schema.append(pa.field(CELL, pa.dictionary(pa.int32(), pa.string()))),
            compression="zstd",
            compression_level=19,
            use_dictionary=[CELL, *(name for name in schema.names if name not in dense)],
            use_byte_stream_split=dense,
            dictionary_pagesize_limit=1 << 26,
            data_page_size=1 << 22,
            write_statistics=False,
            write_page_checksum=True,
            store_schema=False,
        ) as writer,
    ):
        for (plain, _), table in zip(cells, tables, strict=True):
            rows = pa.concat_tables([schema.empty_table(), table], promote_options="permissive")
            text = json.dumps(plain, sort_keys=True)
            column = pa.DictionaryArray.from_arrays(np.zeros(len(rows), np.int32), [text])
            writer.write_table(rows.append_column(CELL, column), row_group_size=max(len(rows), 1))


def _to_text(column: "pa.ChunkedArray") -> Any:
    """Return a column of text: the one that is given, or that of its numbers."""
    import pyarrow as pa

    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        return column.cast(pa.string())
    cells = column.combine_chunks().dictionary_encode()
    return pa.array(list(map(cell_text, cells.dictionary.to_pylist()))).take(cells.indices)
