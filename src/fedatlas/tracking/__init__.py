"""Results to MLflow: a parent run for each size of an experiment, every single run beneath it."""

from pathlib import Path

from fedatlas.errors import UserError
from fedatlas.experiments.expand import cells
from fedatlas.experiments.result_files import read
from fedatlas.tracking import entries
from fedatlas.tracking.book import Book
from fedatlas.tracking.interface import ui
from fedatlas.tracking.store import connect, experiment_id

__all__ = ["live", "log", "ui"]


def log(experiment, directory, uri):
    """Log an experiment's results to MLflow; what is already there and has not changed is left alone.

    experiment: from config.load. directory: holds runs/, and whatever there is of table.parquet, table.csv, claims.csv
    and figures/. uri: ``sqlite:///FILE`` or the address of a server. A run that diverged is FINISHED, not FAILED: it
    did all it was asked for and its divergence is a result; the tag ``status`` tells. Returns a receipt: ids and counts
    of what was logged, unchanged and deleted. Raises UserError.
    """
    directory = Path(directory)
    files = [(cell, directory / "runs" / cell.id / f"{cell.key}.parquet") for cell in cells(experiment)]
    files = [(cell, path) for cell, path in files if path.exists()]
    if not files:
        raise UserError(f"there are no run files in {directory / 'runs'}: nothing to log")
    table = read(directory / "table.parquet") if (directory / "table.parquet").exists() else None
    chosen = entries.chosen(*table) if table else None
    tags = entries.common_tags(experiment)
    with connect(uri) as client:
        book = Book(client, experiment_id(client, experiment, uri), experiment["size"])
        book.open(f"{experiment['name']} · {experiment['size']}", tags, entries.summary(experiment, directory, table))
        for cell, path in files:
            book.log(list(entries.read_runs(experiment, cell, path, tags, chosen)))
        return book.close()


def live(experiment, cell, path, uri):
    """Log the runs of one cell as soon as its file is there, so that a server shows a workflow while it runs.

    Jobs may do so at the same time. `log` later adds the parent run, says which runs were chosen, and removes whatever
    requests that were sent twice have left. Raises UserError.
    """
    with connect(uri) as client:
        book = Book(client, experiment_id(client, experiment, uri), f"{experiment['size']}/{cell.id}/{cell.key}/")
        book.log(list(entries.read_runs(experiment, cell, Path(path), entries.common_tags(experiment))))
        book.close()
