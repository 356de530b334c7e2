"""Results of a record, and new records."""

import shutil
import tempfile
import warnings
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedatlas.data import prepared, sources, store
from fedatlas.errors import UserError
from fedatlas.experiments.cells import CASE, Cell
from fedatlas.experiments.metadata import RunMeta
from fedatlas.experiments.result_files import read_meta, read_table
from fedatlas.experiments.tables import Tables, build
from fedatlas.io.files import atomic_folder
from fedatlas.records.lookup import all_verifications, lacking_cells, record_paths
from fedatlas.records.record import Record, RecordedCell, digest, read_record, restore, write_file
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
        return build(study.layout(size, name), files)


def restore_files(record: Record, cells: Iterable[Cell], folder: Path) -> list[Path]:
    """Write the run files that a record has of some cells into a folder, and return their paths."""
    files = []
    for cell in cells:
        if (found := record.find(cell)) is not None:
            files.append(folder / f"{found.name}.parquet")
            restore(found, files[-1])  # with the seeds of all interim analyses
    return files


def add_record(study: "Study", size: str, name: str, runs: int | None = None) -> Examination:
    """Take the results of an experiment into the record, after runs of each new cell were computed again.

    The results may be of older code. Cases of which a run file is missing are left out. Nothing is written before all
    is verified, and then the folder of the record is replaced in one step.

    Args:
        study: The study, in whose results the run files lie.
        size: Size of the experiment.
        name: Its name.
        runs: Runs that are computed again; by default one of each cell at least. With 0 nothing is verified.

    Returns:
        The examination of the record.

    Raises:
        UserError: A run file is missing, or cannot be computed again here, or differs.
    """
    path = study.record_folders[0] / size / name
    with tempfile.TemporaryDirectory() as temporary:
        stage = Path(temporary, size, name)
        kept = read_record(path) if path.exists() else None
        cells = _whole_cases(study, size, name, kept)
        for id in dict.fromkeys(id for id, _ in cells):
            write_file(stage / f"{id}.parquet", [content for other, content in cells if other == id])
        before = all_verifications(study)
        examination = Examination(study, read_record(stage), before)
        verify(study, [examination], seed=len(before.rows), runs=runs)
        if examination.obstacle and runs != 0:
            raise UserError(f"{name} (size {size}) cannot be computed again here: {examination.obstacle}")
        if examination.faults:
            raise UserError(f"{next(iter(examination.faults.values()))}: nothing is added to the record")
        with atomic_folder(path) as new:
            shutil.copytree(stage, new, dirs_exist_ok=True)
    add_verifications(study.record_folders[0], list(examination.rows.values()), examination.states)
    return examination


def _whole_cases(
    study: "Study", size: str, name: str, kept: Record | None
) -> list[tuple[str, tuple[dict[str, Any], Any]]]:
    """Return metadata and rows of an experiment's cells, each with its algorithm's id, from the last interim analysis.

    What the record has and nobody computed here is taken from it. A line says which cases are left out.

    Args:
        study: The study.
        size: Size of the experiment.
        name: Its name.
        kept: Its record, if there is one.

    Raises:
        UserError: A run file is missing, and the experiment has no cases; or no case is whole; or nothing was computed
            here.
    """
    analyses = [f"runs-{count}" for count in reversed(study.experiment(size, name).analyses[1:])] + ["runs"]
    found: list[tuple[Cell, RecordedCell | Path]] = []
    missing: dict[str, list[Path]] = {}
    for cell in study.cells(size, name).values():
        paths = [Path(study.folders.results, size, name, folder, cell.id, f"{cell.key}.parquet") for folder in analyses]
        file = next((file for file in paths if _has_runs(file, cell)), None)
        held = kept.find(cell) if kept else None
        if held and (file is None or RunMeta.from_dict(read_meta(file)).recorded):
            found.append((cell, held))
        elif file is not None:
            found.append((cell, file))
        else:
            missing.setdefault(cell.point.get(CASE, ""), []).append(paths[-1])
    whole = [(cell, place) for cell, place in found if cell.point.get(CASE, "") not in missing]
    if not any(isinstance(place, Path) for _, place in whole):
        absent = (f"{paths[0]} is missing, or of another specification" for paths in missing.values())
        reason = next(absent, "nothing was computed here")
        raise UserError(f"{name} (size {size}) is not whole: {reason}; run `fedatlas run {name}` first")
    if missing:
        counts = ", ".join(f"{case} ({len(paths)})" for case, paths in missing.items())
        print(f"{name} (size {size}): cases of which run files are missing are left out: {counts}")
    return [
        (cell.id, _content(study, cell, place) if isinstance(place, Path) else (place.plain, place.table))
        for cell, place in whole
    ]


def _has_runs(path: Path, cell: Cell) -> bool:
    """Return whether there is a run file with the runs of a cell, as the experiment's file is now."""
    if not path.exists():
        return False
    spec = RunMeta.from_dict(read_meta(path)).spec
    return digest(spec) == digest(cell.spec) and set(cell.spec.seeds) <= set(spec.seeds)


def _content(study: "Study", cell: Cell, path: Path) -> tuple[dict[str, Any], Any]:
    """Return metadata and rows of a run file as a record has them, without the places of this machine."""
    table, plain = read_table(path)
    meta = replace(RunMeta.from_dict(plain), recorded=False, unverified=False)
    data = {}
    for name, provenance in meta.data.items():
        folder = store.prepare(name, study.folders.data, study.config["data_mirrors"])
        today = prepared.read_meta(folder)
        assert today is not None  # it was prepared
        if _hashes(provenance) != _hashes(today.provenance):
            raise UserError(f"{path} was computed with other files of {name} than those that lie here: run it again")
        for file in provenance["files"]:
            file.pop("origin", None)  # a place of this machine, in data that older code prepared
        digests = {"source": sources.digest(sources.info(name, study.folders.data)), "arrays": today.digest}
        data[name] = provenance | digests
    return {"id": cell.id, "key": cell.key, **replace(meta, data=data).to_dict()}, table


def _hashes(provenance: dict[str, Any]) -> dict[str, str]:
    """Return the hashes of the files of a data set by name."""
    return {file["name"]: file["sha256"] for file in provenance["files"]}
