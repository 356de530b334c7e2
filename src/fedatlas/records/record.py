"""The record of an experiment at one size: the content of its run files, in one file."""

import base64
import functools
import hashlib
import itertools
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from fedatlas.errors import UserError
from fedatlas.experiments.canonical import canonical
from fedatlas.experiments.cells import Cell, CellSpec
from fedatlas.experiments.metadata import RunMeta
from fedatlas.experiments.result_files import read, write
from fedatlas.io.files import atomic
from fedatlas.io.text import require_file
from fedatlas.records.reduction import Reading, reduce, run_columns, spread_seconds

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

FORM = 2  # of the files; a reader of another form says so
FORMS = (1, 2)  # that are read; in the first one every column of a run file is a column of the record
ROUND = "round"  # column of which others are multiples, such as steps
NOTES = b"fedatlas record"


@dataclass(frozen=True)
class RecordedCell:
    """A cell of a record.

    Attributes:
        id: Id of the algorithm in the experiment.
        key: Name of the run file, without its suffix.
        meta: Metadata of the run file.
        columns: Column of the record by column of the run file; behind a factor and a star for its multiple.
        rows: Number of rows.
    """

    id: str
    key: str
    meta: dict[str, Any]
    columns: dict[str, str]
    rows: int

    @functools.cached_property
    def spec(self) -> CellSpec:
        """Specification of the cell."""
        return CellSpec.of(self.meta["spec"])

    @property
    def path(self) -> str:
        """Path of the run file below the folder of run files."""
        return f"{self.id}/{self.key}.parquet"

    @property
    def digest(self) -> str:
        """Digest of the specification."""
        return digest(self.spec)

    @property
    def environments(self) -> list[dict[str, str]]:
        """Machines and versions that computed the cell."""
        return self.meta["environments"]

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the code that computed the cell."""
        return self.meta["fingerprint"]


class Restoration(NamedTuple):
    """A run file that a record gives.

    Attributes:
        id: Id of the algorithm.
        key: Name of the run file, without its suffix.
        seeds: Scoring seeds that it holds.
        fingerprint: Fingerprint of today's code.
        signed: Whether the cell is signed for it.
    """

    id: str
    key: str
    seeds: list[int]
    fingerprint: str
    signed: bool = True


@dataclass(frozen=True)
class Record:
    """The record of an experiment at one size.

    Attributes:
        path: Its file.
        checksum: Checksum of its rows.
        cells: Its cells, in the order of the experiment.
    """

    path: Path
    checksum: str
    cells: list[RecordedCell]

    def find(self, cell: Cell) -> RecordedCell | None:
        """Return the cell that holds all runs of a cell, if there is one.

        Its specification is the same but for scoring seeds, of which it may have more.
        """
        held = self._by_place.get((cell.id, cell.key))
        same = held is not None and held.digest == digest(cell.spec) and set(cell.spec.seeds) <= set(held.spec.seeds)
        return held if same else None

    @functools.cached_property
    def _by_place(self) -> dict[tuple[str, str], RecordedCell]:
        return {(cell.id, cell.key): cell for cell in self.cells}

    @functools.cached_property
    def _starts(self) -> dict[tuple[str, str], int]:
        """First row of each cell."""
        starts = itertools.accumulate((cell.rows for cell in self.cells), initial=0)
        return {(cell.id, cell.key): start for cell, start in zip(self.cells, starts, strict=False)}

    @functools.cached_property
    def _table(self) -> "pa.Table":
        """All rows. Raises UserError if the file was damaged or changed."""
        table = _read_table(self.path)
        if _checksum(table) != self.checksum:
            raise UserError(f"{self.path}: its numbers were changed: check it out again")
        return table

    def frame(self, cell: RecordedCell) -> "pd.DataFrame":
        """Return the rows of a cell, with the columns of its run file.

        Raises:
            UserError: The file was damaged or changed.
        """
        import pandas as pd

        sources = {name: column.rpartition("*") for name, column in cell.columns.items()}
        rows = self._table.slice(self._starts[cell.id, cell.key], cell.rows)
        rows = rows.select(list(dict.fromkeys(stored for _, _, stored in sources.values()))).to_pandas()
        return pd.DataFrame(
            {
                name: rows[stored] * json.loads(factor) if factor else rows[stored]
                for name, (factor, _, stored) in sources.items()
            }
        )

    def seconds(self, id: str, key: str) -> float:
        """Return the seconds of all runs of a cell on one processor."""
        return float(self.frame(self._by_place[id, key])["seconds"].sum())

    def restore(self, restoration: Restoration, path: str | Path) -> None:
        """Write a run file.

        Args:
            restoration: What is restored.
            path: Path of the file.
        """
        cell = self._by_place[restoration.id, restoration.key]
        frame, meta = self.frame(cell), RunMeta.of(cell.meta)
        chosen = ~frame["seed"].isin(set(cell.spec.seeds) - set(restoration.seeds))
        runs = chosen[~frame.duplicated(run_columns(frame, cell.spec))]
        meta = replace(
            meta,
            spec=replace(cell.spec, seeds=restoration.seeds),
            fingerprint=restoration.fingerprint,
            computed=[number for number, keep in zip(meta.computed, runs, strict=True) if keep],
            recorded=True,
            unsigned=not restoration.signed,
        )
        write(path, spread_seconds(frame[chosen], cell.spec), meta.plain())


def digest(spec: CellSpec) -> str:
    """Return the digest of a cell's specification without its scoring seeds."""
    content = {key: value for key, value in canonical(spec).items() if key != "seeds"}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


def read_record(path: str | Path) -> Record:
    """Read a record without its rows.

    Raises:
        UserError: The file is no record, was damaged, or has a form that this version does not know.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    require_file(path)
    try:
        notes = (pq.read_schema(path).metadata or {})[NOTES]
        content = json.loads(_decompressed(notes))
        if content["form"] not in FORMS:
            raise UserError(f"{path} is a record of form {content['form']}; this version of fedatlas reads form {FORM}")
        return Record(Path(path), content["checksum"], [RecordedCell(**cell) for cell in content["cells"]])
    except (pa.ArrowException, OSError, TypeError, KeyError, ValueError, AttributeError) as error:
        if isinstance(error, UserError):
            raise
        raise UserError(f"{path} is no record of fedatlas, or it was damaged ({error}): check it out again") from None


def write_record(
    path: str | Path,
    files: Iterable[tuple[Cell, str | Path]],
    readings: Sequence[Reading] | None = None,
) -> Record:
    """Write the record of an experiment from its run files.

    A file that holds the same content already is left as it is.

    Args:
        path: Path of the record.
        files: Cells and their run files, in the order of the experiment.
        readings: For each cell of a wide experiment, what is read of it; by default all.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    parts, cells = [], []
    nothing = itertools.repeat(None)
    for (cell, file), reading in zip(files, readings or nothing, strict=False):
        frame, meta = read(file)
        rows = reduce(frame, RunMeta.of(meta).spec, reading)
        parts.append(pa.Table.from_pandas(rows, preserve_index=False).replace_schema_metadata(None))
        cells.append((cell, _without_places(meta)))
    stored = [_stored_columns(part) for part in parts]
    table = pa.concat_tables(
        [
            pa.table({column: part[name] for name, column in reversed(columns.items()) if "*" not in column})
            for part, columns in zip(parts, stored, strict=True)
        ],
        promote_options="default",
    )
    entries = [
        vars(RecordedCell(cell.id, cell.key, meta, names, part.num_rows))
        for (cell, meta), names, part in zip(cells, stored, parts, strict=True)
    ]
    notes = _compressed(json.dumps({"form": FORM, "checksum": _checksum(table), "cells": entries}))
    if Path(path).exists():
        try:
            if pq.read_schema(path).metadata.get(NOTES) == notes:
                return read_record(path)
        except (UserError, pa.ArrowException, AttributeError):
            pass  # a damaged file is written again
    with atomic(path) as temporary:
        split = [name for name in table.schema.names if _is_dense(table[name])]
        others = [name for name in table.schema.names if name not in split]
        pq.write_table(
            table.replace_schema_metadata({NOTES: notes}),
            temporary,
            compression="zstd",
            compression_level=19,
            use_dictionary=others,
            use_byte_stream_split=split,
            row_group_size=1 << 22,
            data_page_size=1 << 22,
            write_page_checksum=True,
        )
    return read_record(path)


def _without_places(meta: dict[str, Any]) -> dict[str, Any]:
    """Return the metadata of a run file without the places from which this machine got the file and its data."""
    data = {
        name: {**source, "files": [{key: file[key] for key in file if key != "origin"} for file in source["files"]]}
        for name, source in meta["data"].items()
    }
    return {**{key: value for key, value in meta.items() if key != "recorded"}, "data": data}


def _stored_columns(part: "pa.Table") -> dict[str, str]:
    """Return the column of the record by column of a cell; see `RecordedCell`.

    What equals another column, as vectors up and down do, or is a multiple of the round, is not stored again.
    """
    columns: dict[str, str] = {}
    for name, type in zip(part.schema.names, part.schema.types, strict=True):
        twin = next((other for other in columns if part[other].equals(part[name])), None)
        factor = None if twin or name == ROUND else _factor(part, name)
        columns[name] = columns[twin] if twin else f"{factor}*{ROUND}:int64" if factor else f"{name}:{type}"
    return columns


def _factor(part: "pa.Table", name: str) -> int | float | None:
    """Return the number that makes a numeric column of rounds, exactly and in its type; None where there is none."""
    import numpy as np
    import pyarrow as pa

    rounds, column = part[ROUND].to_numpy(), part[name]
    if not (pa.types.is_int64(column.type) or pa.types.is_float64(column.type)) or column.null_count:
        return None
    values = column.to_numpy()
    last = int(rounds.argmax())
    factor: int | float = (values[last] / max(rounds[last], 1)).item()
    factor = round(factor) if values.dtype.kind == "i" and math.isfinite(factor) else factor
    return factor if math.isfinite(factor) and np.array_equal(rounds * factor, values) else None


def _is_dense(column: "pa.ChunkedArray") -> bool:
    """Return whether a column holds numbers that seldom repeat."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return pa.types.is_floating(column.type) and pc.count_distinct(column).as_py() > len(column) / 4


def _read_table(path: str | Path) -> "pa.Table":
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.read_table(path, page_checksum_verification=True).replace_schema_metadata(None)
    except (pa.ArrowException, OSError) as error:
        raise UserError(f"{path} is no record of fedatlas, or it was damaged ({error}): check it out again") from None


def _checksum(table: "pa.Table") -> str:
    """Return a checksum of the names, types and values of a table, however they are laid out in a file."""
    import pyarrow as pa

    sink = hashlib.sha256()
    for name in table.schema.names:
        column = table[name]
        numeric = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
        content = (
            column.to_numpy().tobytes() if numeric and not column.null_count else repr(column.to_pylist()).encode()
        )
        sink.update(f"{name}\n".encode() + content)
    return sink.hexdigest()[:16]


def _compressed(text: str) -> bytes:
    import pyarrow as pa

    content = text.encode()
    return base64.b64encode(len(content).to_bytes(8, "big") + pa.Codec("zstd", 19).compress(content, asbytes=True))


def _decompressed(notes: bytes) -> str:
    import pyarrow as pa

    content = base64.b64decode(notes, validate=True)
    return pa.Codec("zstd").decompress(content[8:], int.from_bytes(content[:8], "big"), asbytes=True).decode()
