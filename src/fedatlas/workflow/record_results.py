"""Records in the shell and in Python: results of a record, new records, and what is missing."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from fedatlas.errors import UserError
from fedatlas.experiments.cells import CASE, Cell
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
from fedatlas.workflow.record_numbers import claims_spec, compare_verdicts, layout, restore_files
from fedatlas.workflow.record_readings import find_readings
from fedatlas.workflow.records import FOLDER, all_signatures, lacking_cells, record_paths
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


def record_tables(study: Study, name: str, size: str | None) -> Tables:
    """Return table, curves and trials of the record of an experiment. Arguments and errors are those of `find_record`.

    Raises:
        UserError: The record has not all cells of the experiment as its file is now.
    """
    record = find_record(study, name, size)
    size = record.path.parent.name
    if lacking := lacking_cells(study, size, name):
        text = f"lacks {lacking[0].id}, {lacking[0].key}, as the experiment's file is now"
        raise UserError(f"the record of {name} (size {size}) {text}")
    cells = study.cells(size, name).values()
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

    Cases of which a run file is missing are left out. Verdicts are compared once none is.

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
    folder = study.root / FOLDER
    path = folder / size / f"{name}.parquet"
    seed = len(all_signatures(study))
    before = path.read_bytes() if path.exists() else None
    with tempfile.TemporaryDirectory() as held:
        files = _whole_cases(study, size, name, path, Path(held), report)
        for cell, file in files:
            if commit := _uncommitted(cell, RunMeta.of(read_meta(file))):
                raise UserError(
                    f"{name} (size {size}) was computed by code with uncommitted changes ({commit}): commit them and "
                    "run it again"
                )
        readings = find_readings(study, size, name, files)
        try:
            write_record(path, files, readings)
            if len(files) == len(study.cells(size, name)):  # claims are about all cases
                compare_verdicts(study, size, name, files, record_tables(study, name, size))
            examination = Examination.begin(study, size, name, lambda _: True)
            verify(study, [examination], seed=seed, cells=cells, minutes=None, report=report)
            if examination.obstacle:
                raise UserError(f"{name} (size {size}) cannot be computed again here: {examination.obstacle}")
            if examination.faults:
                raise UserError(f"{examination.faults[0].text}: nothing is added to the record")
        except BaseException:
            path.unlink(missing_ok=True)
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


def _whole_cases(
    study: Study, size: str, name: str, path: Path, folder: Path, report: Callable[[str], object]
) -> list[tuple[Cell, Path]]:
    """Return the cells of an experiment with their run files, of several looks the last.

    What the record has and nobody computed here is taken from it.

    Args:
        study: The study.
        size: Size of the experiment.
        name: Its name.
        path: Its record, which need not exist.
        folder: Folder for the run files that come from the record.
        report: Takes a line about cases that are left out.

    Raises:
        UserError: A run file is missing, and the experiment has no cases; or no case is whole; or nothing was computed
            here.
    """
    held = read_record(path) if path.exists() else None
    looks = [f"runs-{count}" for count in reversed(study.experiment(size, name).looks[1:])] + ["runs"]
    files: list[tuple[Cell, Path]] = []
    missing: dict[str, list[Path]] = {}
    for cell in study.cells(size, name).values():
        paths = [Path(study.folders.results, size, name, look, cell.id, f"{cell.key}.parquet") for look in looks]
        file = next((file for file in paths if file.exists()), None)
        if held and held.find(cell) and (file is None or RunMeta.of(read_meta(file)).recorded):
            files += restore_files(held, [cell], folder)
        elif file is not None:
            files.append((cell, file))
        else:
            missing.setdefault(cell.point.get(CASE, ""), []).append(paths[-1])
    whole = [(cell, file) for cell, file in files if cell.point.get(CASE, "") not in missing]
    if all(folder in file.parents for _, file in whole):
        reason = next((f"{paths[0]} is missing" for paths in missing.values()), "nothing was computed here")
        raise UserError(f"{name} (size {size}) is not whole: {reason}; run `fedatlas run {name}` first")
    if missing:
        counts = ", ".join(f"{case} ({len(paths)})" for case, paths in missing.items())
        report(f"{name} (size {size}): cases of which run files are missing are left out: {counts}")
    return whole


def missing_records(study: Study) -> list[MissingRecord]:
    """Return the experiments of the gallery of which the record lacks cells, the cheapest first."""
    costs, entries = shipped_costs(), []
    for size, name in study.gallery():
        if lacking := lacking_cells(study, size, name):
            cost, share = costs.get((name, size)), len(lacking) / len(study.cells(size, name))
            seconds = None if cost is None else cost.seconds
            entries.append(MissingRecord(size, name, None if seconds is None else share * seconds / 3600))
    return sorted(entries, key=lambda entry: (entry.hours is None, entry.hours or 0.0))
