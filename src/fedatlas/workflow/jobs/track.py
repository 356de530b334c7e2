"""Results in MLflow."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from fedatlas.io.files import read_json, write_json
from fedatlas.publish import tracking
from fedatlas.publish.report.facts import FACTS_FILE, Facts, read_facts

RECEIPT = "mlflow.json"  # beside the results that were logged
COMMAND = "fedatlas track"  # logs what a receipt calls pending


def make(out: str, uri: str, folders: Sequence[str]) -> None:
    """Log experiments to MLflow and write a receipt.

    What a server does not take is pending in the receipt, so that it does not end a workflow.

    Args:
        out: Path of the receipt.
        uri: Address of the MLflow runs.
        folders: Folders of about.json, tables, claims.csv, figures and run files.

    Raises:
        UserError: The database cannot be written.
    """
    receipts: dict[str, dict[str, Any]] = {}
    for folder in folders:
        try:
            receipts[folder] = _log(folder, uri)
        except tracking.TrackingError as error:
            receipts[folder] = {"pending": str(error)}
            print(f"warning: {folder} is not in MLflow: {error}; `{COMMAND}` logs it later", flush=True)
    write_json(out, receipts)


def log_later(results: str, uri: str, everything: bool = False) -> Iterator[tuple[str, dict[str, Any]]]:
    """Log the experiments that are pending, or all that have a table, and yield each folder with its receipt.

    Raises:
        UserError: The server does not take the runs, or the database cannot be written.
    """
    folders = {folder for _, folder in pending(results)}
    if everything:
        folders |= {str(path.parent) for path in Path(results).glob("*/*/table.parquet")}
    for folder in sorted(folders):
        receipt = _log(folder, uri)
        for path, name in pending(results):
            if name == folder:
                write_json(path, {**read_json(path), folder: receipt})
        yield folder, receipt


def pending(results: str | Path) -> list[tuple[Path, str]]:
    """Return the receipts in a folder of results and the folders that they call pending."""
    paths = sorted([*Path(results).glob(RECEIPT), *Path(results).glob(f"*/*/{RECEIPT}")])
    return [(path, folder) for path in paths for folder, entry in read_json(path).items() if "pending" in entry]


def _log(folder: str, uri: str) -> dict[str, Any]:
    return tracking.log(read_facts(Path(folder) / FACTS_FILE), folder, uri)


def live(facts: Facts, path: str, uri: str) -> None:
    """Log a run file to a server at once. What the server does not take is logged when the experiment is complete.

    Args:
        facts: The facts of the experiment.
        path: Path of the run file.
        uri: Address of the server.
    """
    try:
        tracking.log(facts, Path(path).parents[2], uri, path)
    except tracking.TrackingError as error:
        print(f"warning: {error}; these runs will be logged when the experiment is complete")
