"""Files of runs: beside an SQLite database, or behind a server."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from fedatlas.io.files import atomic
from fedatlas.publish.tracking import sqlite
from fedatlas.publish.tracking.addresses import database_path

if TYPE_CHECKING:
    from mlflow import MlflowClient


class Artifacts:
    """The artifacts of an experiment's runs.

    MLflow's client asks a server for artifacts whose place is relative. Beside a database there is none, so they are
    written to where `fedatlas ui` lets its server look for them.
    """

    def __init__(self, client: MlflowClient, experiment_id: str, uri: str) -> None:
        path, found = database_path(uri), client.get_experiment(experiment_id)
        local = path is not None and found.artifact_location == f"{sqlite.SCHEME}{found.name}"
        self.client = client
        self.folder = sqlite.artifact_folder(path) / found.name if path is not None and local else None

    def put(self, id: str, place: str, source: Path | bytes) -> None:
        """Add a file to a run. place: the artifact's path. source: the path of the file, or what it holds."""
        if self.folder is not None:
            with atomic(self.folder / id / "artifacts" / place) as temporary:
                shutil.copyfile(source, temporary) if isinstance(source, Path) else temporary.write_bytes(source)
        elif isinstance(source, Path):
            folder = Path(place).parent
            self.client.log_artifact(id, str(source), None if folder == Path() else str(folder))
        else:
            with tempfile.TemporaryDirectory() as temporary:
                path = Path(temporary, Path(place).name)
                path.write_bytes(source)
                self.put(id, place, path)

    def listed(self, id: str) -> set[str]:
        """Paths of a run's artifacts, at most one folder deep."""
        if self.folder is not None:
            root = self.folder / id / "artifacts"
            return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}
        top = self.client.list_artifacts(id)
        inside = [file for item in top if item.is_dir for file in self.client.list_artifacts(id, item.path)]
        return {file.path for file in (*top, *inside) if not file.is_dir}
