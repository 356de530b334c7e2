"""Records in the shell and in Python: results of a record, new records, and what is missing."""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from fedatlas.errors import UserError
from fedatlas.experiments.cells import Cell
from fedatlas.experiments.dependencies import cell_modules
from fedatlas.experiments.fingerprint import fingerprint
from fedatlas.experiments.metadata import RunMeta
from fedatlas.experiments.result_files import read_meta
from fedatlas.experiments.tables import Tables, build
from fedatlas.io.machine import environment
from fedatlas.publish.report.gallery import MissingRecord
from fedatlas.records.record import Record, read_record, write_record
from fedatlas.records.signatures import add_signatures
from fedatlas.workflow.jobs import claims, table
from fedatlas.workflow.origins import Origins
from fedatlas.workflow.record_numbers import claims_spec, compare_verdicts, layout, read_numbers, restore_files
from fedatlas.workflow.record_readings import find_readings
from fedatlas.workflow.records import FOLDER, all_signatures, record_paths
from fedatlas.workflow.study import Study
from fedatlas.workflow.times import shipped_costs
from fedatlas.workflow.verification import Examination, make_file, verify

if TYPE_CHECKING:
    import pandas as pd

DIRTY = "-dirty"  # end of the commit of a working copy with changes


def find_record(study: Study, name: str, size: str | None) -> Record:
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


def make_tables(study: Study, size: str, name: str, folder: Path) -> int:
    """Make run files and tables of an experiment from its record, as the workflow makes them.

    Cells that the record lacks, as the experiment's file is now, are left out.

    Args:
        study: The study.
        size: Size of the experiment.
        name: Its name.
        folder: Folder of the results.

    Returns:
        The number of cells that are left out.

    Raises:
        UserError: The record has none of the cells, or was damaged.
    """
    cells = list(study.cells(size, name).values())
    files = restore_files(find_record(study, name, size), cells, folder / "runs")
    if not files:
        raise UserError(f"the record of {name} (size {size}) has no cell of the experiment as its file is now")
    table.make(layout(study, size, name).plain(), str(folder), [str(path) for _, path in files])
    return len(cells) - len(files)


def judge_claims(study: Study, size: str, name: str, folder: Path) -> None:
    """Write the verdicts on the claims of an experiment into the folder of its tables.

    Partitions that checks read are made where they are missing.
    """
    spec, origins = claims_spec(study, size, name), Origins(study)
    for files in spec["inputs"].values():
        for path in filter(None, files.values()):
            make_file(study, origins, path)
    claims.make(spec, str(folder), str(folder / "claims.csv"), study.folders.data)


def _whole_record(study: Study, size: str, name: str) -> Record:
    """Return the record of an experiment. Raises UserError if it has not all of its cells."""
    record = find_record(study, name, size)
    for cell in study.cells(size, name).values():
        if record.find(cell) is None:
            text = f"lacks {cell.id}, {cell.key}, as the experiment's file is now"
            raise UserError(f"the record of {name} (size {size}) {text}")
    return record


def record_tables(study: Study, name: str, size: str | None) -> Tables:
    """Return table, curves and trials of the record of an experiment. Arguments and errors are those of `find_record`.

    Raises:
        UserError: The experiment's file has changed so that the record has not all of its cells.
    """
    size = find_record(study, name, size).path.parent.name
    record, cells = _whole_record(study, size, name), study.cells(size, name).values()
    with tempfile.TemporaryDirectory() as folder:
        return build(layout(study, size, name), [path for _, path in restore_files(record, cells, Path(folder))])


def record(name: str, size: str | None = None) -> "pd.DataFrame":
    """Return the curves of an experiment from the record that fedatlas carries, with all that its figures draw.

    A row is an evaluation: of the entry ``algorithm``, at values of the axes, with ``seed``, after so many rounds
    (``round``) and local steps (``steps``). Costs are means over clients since the start: ``vectors_up`` and
    ``vectors_down`` count vectors of the model's size, ``bits_up`` and ``bits_down`` bits, ``gradients`` and
    ``samples`` those of an active client, ``seconds`` those of a processor. Metrics have the units of the problem;
    accuracies are shares. ``status`` is ok or diverged. Of runs with more than 500 evaluations, and of experiments with
    more than 150,000, some are there; columns that begin with ``all:`` have numbers of all in the last row of a run.

    Args:
        name: Name of the experiment.
        size: Its size; by default the only one that has a record.

    Raises:
        UserError: There is no such record, or it was damaged.

    >>> import fedatlas
    >>> curves = fedatlas.record("fedsps_prop2")
    >>> sorted(curves["algorithm"].unique())
    ['fedsps-global']
    """
    study = Study.open()
    curves = record_tables(study, name, size).curves
    held = find_record(study, name, size)
    view = study.view(held.path.parent.name, name)
    curves.attrs = {
        "algorithms": {id: {"algorithm": entry.algorithm, "label": entry.name} for id, entry in view.algorithms.items()}
    }
    return curves


def add_record(study: Study, size: str, name: str, cells: int, report: Callable[[str], object] = print) -> Path:
    """Take the results of an experiment into the record, and sign it if some cells were computed again.

    Args:
        study: The study, in whose results the run files lie.
        size: Size of the experiment.
        name: Its name.
        cells: Number of cells that are computed again first; with 0 nobody signs.
        report: Takes lines about the progress.

    Returns:
        The path of the record.

    Raises:
        UserError: A run file is missing, was made by a changed working copy, or cannot be computed again; or a verdict
            does not follow from the record alone.
    """
    files = list(_last_files(study, size, name))
    for cell, file in files:
        if commit := _uncommitted(cell, RunMeta.of(read_meta(file))):
            raise UserError(
                f"{name} (size {size}) was computed by code with uncommitted changes ({commit}): commit them and run "
                "it again"
            )
    folder = study.root / FOLDER
    path = folder / size / f"{name}.parquet"
    seed = len(all_signatures(study))
    before = path.read_bytes() if path.exists() else None
    write_record(path, files, read_numbers(study, size, name, files), find_readings(study, size, name, files))
    try:
        compare_verdicts(study, size, name, files, record_tables(study, name, size))
        examination = Examination.begin(study, size, name, lambda _: True)
        verify(
            study,
            [examination],
            seed=seed,
            cells=cells,
            minutes=None,
            report=report,
        )
        if examination.obstacle:
            raise UserError(f"{name} (size {size}) cannot be computed again here: {examination.obstacle}")
        if examination.faults:
            raise UserError(f"{examination.faults[0].text}: nothing is added to the record")
    except BaseException:
        path.unlink()
        if before is not None:
            path.write_bytes(before)
        raise
    if examination.drawn:
        add_signatures(folder, [examination.signature(seed)])
    return path


def _uncommitted(cell: Cell, meta: RunMeta) -> str:
    """Return the commit with uncommitted changes whose code computed a run file; empty if that code is committed.

    It is, too, where the code of today's commit is the same.
    """
    changed = [found["commit"] for found in meta.environments if found.get("commit", "").endswith(DIRTY)]
    same = meta.fingerprint == fingerprint(cell_modules(cell.spec))
    return "" if not changed or (same and not environment().get("commit", DIRTY).endswith(DIRTY)) else changed[0]


def _last_files(study: Study, size: str, name: str) -> Iterator[tuple[Cell, Path]]:
    """Yield the cells of an experiment with their run files, of several looks the last."""
    folder = Path(study.folders.results, size, name)
    looks = study.experiment(size, name).looks
    for cell in study.cells(size, name).values():
        folders = ["runs", *(f"runs-{count}" for count in looks[1:])]
        paths = [folder / look / cell.id / f"{cell.key}.parquet" for look in reversed(folders)]
        path = next((path for path in paths if path.exists()), None)
        if path is None:
            raise UserError(
                f"{name} (size {size}) is not whole: {paths[-1]} is missing; run `fedatlas run {name}` first"
            )
        yield cell, path


def missing_records(study: Study) -> list[MissingRecord]:
    """Return the experiments of the gallery of which the record lacks cells, the cheapest first."""
    costs, held = shipped_costs(), record_paths(study)
    entries = []
    for size, name in study.gallery():
        record = read_record(held[size, name]) if (size, name) in held else None
        if record is None or any(record.find(cell) is None for cell in study.cells(size, name).values()):
            cost = costs.get((name, size))
            seconds = None if cost is None else cost.seconds
            entries.append(MissingRecord(size, name, None if seconds is None else seconds / 3600))
    return sorted(entries, key=lambda entry: (entry.hours is None, entry.hours or 0.0))
