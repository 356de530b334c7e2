"""Results in MLflow."""

import json
from collections.abc import Sequence
from pathlib import Path

from fedatlas.errors import UserError
from fedatlas.io.files import atomic
from fedatlas.publish import tracking
from fedatlas.publish.report.record import About


def make(folder: str, uri: str, runs: Sequence[str]) -> None:
    """Log an experiment to MLflow and write the receipt mlflow.json.

    folder: of about.json, the table, claims.csv and figures. runs: paths of all run files, in order.
    """
    receipt = tracking.log(About.read(Path(folder) / "about.json"), folder, uri, runs)
    with atomic(Path(folder) / "mlflow.json") as temporary:
        temporary.write_text(json.dumps(receipt, indent=1) + "\n")


def live(about: str, path: str, uri: str) -> None:
    """Log a run file to a server as soon as it is there. A server that does not answer is not an error.

    about: JSON of the experiment's About.
    """
    try:
        tracking.live(About.of(json.loads(about)), path, uri)
    except UserError as error:
        print(f"warning: {error}; these runs will be logged when the experiment is complete")
