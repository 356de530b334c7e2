"""Results of a record, and new records."""

import tempfile
import warnings
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedatlas.data import sources, store
from fedatlas.data.dataset import read_prepared
from fedatlas.errors import UserError
from fedatlas.experiments.cells import Cell
from fedatlas.experiments.result_files import read_meta, read_table
from fedatlas.experiments.runs import RunMeta
from fedatlas.experiments.tables import Tables, build
from fedatlas.io.files import atomic_folder
from fedatlas.records.lookup import all_verifications, lacking_cells, record_paths
from fedatlas.records.record import Record, digest, read_record, write_file
from fedatlas.records.verification import Examination, verify
from fedatlas.records.verified import add_verifications, find_valid

if TYPE_CHECKING:
    from fedatlas.workflow.study import Study


def find_record(study: "Study", name: str, size: str | None) -> Record:
    """Return the record of an experiment.

    Args:
        study: The study.
        name: Name of the experiment.
        size: Its size; by default the only one that has a record.

    Raises:
        UserError: There is none, or there are several.
    """
    paths = record_paths(study)
    sizes = [held for held, experiment in paths if experiment == name and size in (None, held)]
    if not sizes:
        named = "" if size is None else f" at size {size}"
        raise UserError(f"there is no record of {name}{named}; `fedatlas record list` shows all")
    if len(sizes) > 1:
        raise UserError(f"{name} has records of sizes {' and '.join(sizes)}: give one as size")
    return read_record(paths[sizes[0], name])


def record_tables(study: "Study", name: str, size: str | None) -> Tables:
    """Return table, curves and trials of the record of an experiment. Arguments and errors are those of `find_record`.

    Raises:
        UserError: The record has not all cells of the experiment as its file is now.

    Warns:
        UserWarning: Nobody has computed runs of a cell again, with the numbers that it has.
    """
    record = find_record(study, name, size)
    size = record.path.parent.name
    if lacking := lacking_cells(study, size, name):
        text = f"lacks {lacking[0].id}, {lacking[0].key}, as the experiment's file is now"
        raise UserError(f"the record of {name} (size {size}) {text}")
    valid = find_valid(record.cells.values(), all_verifications(study).of(size, name))
    if unverified := [id for (id, _), rows in valid.items() if not rows]:
        count = f"{len(unverified)} of {len(valid)} cells"
        text = f"the record of {name} (size {size}) has {count} that nobody has computed again"
        warnings.warn(f"{text}, such as one of {unverified[0]}", stacklevel=3)
    with tempfile.TemporaryDirectory() as folder:
        files = restore_files(record, study.cells(size, name).values(), Path(folder, "runs"))
        experiment = study.experiment(size, name)
        return build(list(experiment.grid), experiment.select, files)


def restore_files(record: Record, cells: Iterable[Cell], folder: Path) -> list[Path]:
    """Write the run files that a record has of some cells into a folder, and return their paths."""
    files = []
    for cell in cells:
        if (found := record.find(cell)) is not None:
            files.append(folder / cell.id / f"{cell.key}.parquet")
            found.write(files[-1])  # with the seeds of all interim analyses
    return files


def add_record(study: "Study", size: str, name: str, runs: int | None = None) -> Examination:
    """Take the results of an experiment into the record, after runs of each new cell were computed again.

    The results may be of older code. Cells without a run file stay as the record has them, and a line says how many it
    lacks. Nothing is written before all is verified, and then the folder of the record is replaced in one step.

    Args:
        study: The study, in whose results the run files lie.
        size: Size of the experiment.
        name: Its name.
        runs: Runs that are computed again; by default one of each cell at least. With 0 nothing is verified.

    Returns:
        The record, with what was verified of it.

    Raises:
        UserError: Nothing was computed here, or cannot be computed again here, or differs.
    """
    path = study.record_folders[0] / size / name
    kept = read_record(path) if path.exists() else None
    contents, lacking, computed = dict[str, list[tuple[dict[str, Any], Any]]](), 0, 0
    for cell in study.cells(size, name).values():
        file, held = _find_runs(study, size, name, cell), kept.find(cell) if kept else None
        if held and (file is None or RunMeta.from_dict(read_meta(file)).recorded):
            contents.setdefault(cell.id, []).append((held.plain, held.table))
        elif file:
            contents.setdefault(cell.id, []).append(_content(study, cell, file))
            computed += 1
        else:
            lacking += 1
    if not computed:
        raise UserError(f"{name} (size {size}) has no run file of today's experiment: run `fedatlas run {name}` first")
    if lacking:
        print(f"{name} (size {size}): {lacking} cells without a run file of today's experiment are left out")
    before = all_verifications(study)
    with atomic_folder(path) as new:
        for id, cells in contents.items():
            write_file(new / f"{id}.parquet", cells)
        examination = Examination(study, size, name, read_record(new), before)
        verify(study, [examination], seed=len(before.rows), runs=runs)
        if examination.obstacle:
            raise UserError(f"{name} (size {size}) cannot be computed again here: {examination.obstacle}")
        if examination.faults:
            raise UserError(f"{next(iter(examination.faults.values()))}: nothing is added to the record")
    add_verifications(study.record_folders[0], list(examination.rows.values()), examination.states)
    return Examination(study, size, name, read_record(path), all_verifications(study))


def _find_runs(study: "Study", size: str, name: str, cell: Cell) -> Path | None:
    """Return the file of the last interim analysis with the runs of a cell, as the experiment's file is now."""
    folders = [f"runs-{count}" for count in reversed(study.experiment(size, name).analyses[1:])] + ["runs"]
    for path in (Path(study.folders.results, size, name, folder, cell.id, f"{cell.key}.parquet") for folder in folders):
        if path.exists():
            spec = RunMeta.from_dict(read_meta(path)).spec
            if digest(spec) == digest(cell.spec) and set(cell.spec.seeds) <= set(spec.seeds):
                return path
    return None


def _content(study: "Study", cell: Cell, path: Path) -> tuple[dict[str, Any], Any]:
    """Return metadata and rows of a run file as a record has them, without the places of this machine."""
    table, plain = read_table(path)
    meta = replace(RunMeta.from_dict(plain), recorded=False, unverified=False)
    for name, provenance in meta.data.items():
        today = read_prepared(store.prepare(name, study.folders.data, study.config["data_mirrors"]))
        assert today is not None  # it was prepared
        before, now = (
            {file["name"]: file["sha256"] for file in form["files"]} for form in (provenance, today.provenance)
        )
        if before != now:
            raise UserError(f"{path} was computed with other files of {name} than those that lie here: run it again")
        provenance |= {"source": sources.digest(sources.info(name, study.folders.data)), "arrays": today.digest}
    return {"id": cell.id, "key": cell.key, **meta.to_dict()}, table
