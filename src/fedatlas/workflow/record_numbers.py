"""Numbers of long runs that claims read, for a record, which keeps some evaluations of the runs alone."""

import json
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from fedatlas.errors import UserError
from fedatlas.experiments.cells import Cell
from fedatlas.experiments.result_files import read, write
from fedatlas.experiments.tables import Layout, Tables, build
from fedatlas.records.record import Record, Restoration
from fedatlas.results.claims.results import Results
from fedatlas.workflow.graph import Graph
from fedatlas.workflow.jobs.claims import count_classes, judge
from fedatlas.workflow.study import Study

if TYPE_CHECKING:
    import pandas as pd


POSITION = "position"  # column that follows the rows of run files into the curves


def number_rows(study: Study, size: str, name: str, files: Sequence[tuple[Cell, Path]]) -> "tuple[Results, list[int]]":
    """Return results whose curves have the positions of their rows among those of all run files, in a column.

    Args:
        study: The study.
        size: Size of the experiment.
        name: Its name.
        files: Its cells and their run files, in the order of the experiment.

    Returns:
        The results, and the positions at which the rows of each file begin and those of the last one end.
    """
    starts = [0]
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, cell.id, path.name) for cell, path in files]
        for (_, original), path in zip(files, paths, strict=True):
            frame, meta = read(original)
            path.parent.mkdir(exist_ok=True)
            starts.append(starts[-1] + len(frame))
            write(path, frame.assign(**{POSITION: range(*starts[-2:])}), meta)
        return _results(study, size, name, build(layout(study, size, name), paths)), starts


def restore_files(record: Record, cells: Iterable[Cell], folder: Path) -> list[tuple[Cell, Path]]:
    """Write the run files that a record has of some cells into a folder, and return them with their cells."""
    files = []
    for cell in cells:
        if (found := record.find(cell)) is not None:
            files.append((cell, folder / found.path))
            restoration = Restoration(found.id, found.key, found.spec.seeds, found.fingerprint)
            record.restore(restoration, folder / found.path)
    return files


def layout(study: Study, size: str, name: str) -> Layout:
    """Return the layout of an experiment's table."""
    experiment = study.experiment(size, name)
    return Layout(list(experiment.grid), list(experiment.within), study.view(size, name).tune, experiment.select)


def _results(study: Study, size: str, name: str, tables: Tables) -> Results:
    table, curves, trials, meta = tables
    return Results(study.view(size, name), table, curves, trials, count_classes(meta))


def claims_spec(study: Study, size: str, name: str) -> dict[str, Any]:
    """Return the specification of the job that judges the claims of an experiment."""
    spec: dict[str, Any] = json.loads(Graph(study).claims_spec(SimpleNamespace(size=size, experiment=name)))
    return spec


def verdicts(study: Study, results: Results) -> "pd.DataFrame":
    """Return the verdicts on the claims of an experiment, whose run files are there."""
    view = results.view
    folder = study.folders.report(view.size, view.name)
    return judge(claims_spec(study, view.size, view.name), results, folder, study.folders.data)


def compare_verdicts(study: Study, size: str, name: str, files: Sequence[tuple[Cell, Path]], tables: Tables) -> None:
    """Compare the verdicts that follow from a record with those of the run files.

    Args:
        study: The study.
        size: Size of the experiment.
        name: Its name.
        files: Its cells and their run files.
        tables: Tables of the record.

    Raises:
        UserError: One differs, since its check reads evaluations that the record does not keep.
    """
    whole = build(layout(study, size, name), [path for _, path in files])
    expected, found = (verdicts(study, _results(study, size, name, results)) for results in (whole, tables))
    for (_, one), (_, other) in zip(expected.iterrows(), found.iterrows(), strict=True):
        if one["verdict"] != other["verdict"]:
            raise UserError(
                f"{name} (size {size}): claims.{one['claim']} is {one['verdict']} ({one['ours']}), and "
                f"{other['verdict']} ({other['ours']}) by what a record keeps: nothing is added to the record"
            )
