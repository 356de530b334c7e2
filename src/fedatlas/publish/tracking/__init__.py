"""Results to MLflow: a parent run for each size of an experiment, every single run beneath it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fedatlas.errors import UserError
from fedatlas.experiments.metadata import TableMeta
from fedatlas.experiments.result_files import read
from fedatlas.publish.report.record import ExperimentRecord
from fedatlas.publish.tracking.connection import connect, experiment_id
from fedatlas.publish.tracking.parent_run import summary
from fedatlas.publish.tracking.run_log import Book
from fedatlas.publish.tracking.run_records import chosen, common_tags, read_runs
from fedatlas.publish.tracking.server import serve_ui

__all__ = ["log", "log_run_file", "serve_ui"]


def log(about: ExperimentRecord, directory: str | Path, uri: str, files: Sequence[str | Path]) -> dict[str, Any]:
    """Log an experiment's results to MLflow; what is already there and has not changed is left alone.

    directory: holds whatever there is of table.parquet, table.csv, claims.csv and figures/. uri: ``sqlite:///FILE`` or
    the address of a server. files: paths of all run files, each in a folder of its algorithm's id. A run that diverged
    is FINISHED, not FAILED: it did all it was asked for and its divergence is a result; the tag ``status`` tells.

    Returns a receipt: ids and counts of what was logged, unchanged and deleted. Raises UserError if there is nothing to
    log, if a file is none of its kind, or if MLflow cannot be reached.
    """
    directory = Path(directory)
    if not files:
        raise UserError(f"{about.name} (size {about.size}) has no run files: nothing to log")
    table = None
    if (directory / "table.parquet").exists():
        frame, meta = read(directory / "table.parquet")
        table = frame, TableMeta.of(meta)
    winners = chosen(about, table[0]) if table else None
    tags = common_tags(about)
    with connect(uri) as client:
        book = Book(client, experiment_id(client, about, uri), about.size, uri)
        ended = max((int(1000 * path.stat().st_mtime) for path in map(Path, files) if path.exists()), default=0)
        book.open(f"{about.name} · {about.size}", tags, summary(about, directory, table), ended)
        for path in map(Path, files):
            book.log(list(read_runs(about, path, tags, winners)))
        return book.close()


def log_run_file(about: ExperimentRecord, path: str | Path, uri: str) -> None:
    """Log the runs of one run file as soon as it is there, so that a server shows a workflow while it runs.

    path: of the run file, in a folder of its algorithm's id. uri: as of `log`. Jobs may do so at the same time. `log`
    later adds the parent run, says which runs were chosen, and removes whatever requests that were sent twice have
    left. Raises UserError if the file is none of its kind, or if MLflow cannot be reached.
    """
    path = Path(path)
    with connect(uri) as client:
        book = Book(client, experiment_id(client, about, uri), f"{about.size}/{path.parent.name}/{path.stem}/", uri)
        book.log(list(read_runs(about, path, common_tags(about))))
        book.close()
