"""Results in MLflow."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fedatlas.errors import UserError
from fedatlas.io.files import write_json
from fedatlas.publish import tracking
from fedatlas.publish.report.record import ExperimentRecord


def make(folder: str, uri: str, runs: Sequence[str]) -> None:
    """Log an experiment to MLflow and write the receipt mlflow.json.

    Args:
        folder: Folder of about.json, the table, claims.csv and figures.
        uri: Address of the MLflow runs.
        runs: Paths of all run files, in the order of the cells.
    """
    receipt = tracking.log(ExperimentRecord.read(Path(folder) / "about.json"), folder, uri, runs)
    write_json(Path(folder) / "mlflow.json", receipt)


def live(about: dict[str, Any], path: str, uri: str) -> None:
    """Log a run file to a server at once. A server that does not answer is not an error.

    Args:
        about: The experiment's `ExperimentRecord` in JSON types.
        path: Path of the run file.
        uri: Address of the server.
    """
    try:
        tracking.log_run_file(ExperimentRecord.of(about), path, uri)
    except UserError as error:
        print(f"warning: {error}; these runs will be logged when the experiment is complete")
