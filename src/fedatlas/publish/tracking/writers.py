"""How runs get into MLflow: through its public client, or faster into the tables of an SQLite database."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from fedatlas.publish.tracking.connection import at_once
from fedatlas.publish.tracking.datasets import dataset
from fedatlas.publish.tracking.private import TESTED, DatabaseWriter, revision
from fedatlas.publish.tracking.run_records import Entry

if TYPE_CHECKING:
    from mlflow import MlflowClient

Tags = Mapping[str, str]


class Writer(Protocol):
    """Writes many runs of one MLflow experiment at once."""

    def add(self, runs: Sequence[tuple[Entry, Tags]]) -> list[str]:
        """Add runs, given with their tags. Returns their ids."""

    def tag(self, tags: Mapping[str, Tags]) -> None:
        """Set tags, given by the ids of runs."""

    def delete(self, ids: Iterable[str]) -> None:
        """Delete runs."""


def writer(client: MlflowClient, experiment_id: str, path: Path | None) -> Writer:
    """The writer for where a client writes to.

    path: of the SQLite database; None for a server and for any other database. The tables of MLflow are no public
    interface, so they are written only in a database whose schema was tested.
    """
    if path is not None and revision(path) in TESTED:
        return DatabaseWriter(client, experiment_id)
    return ClientWriter(client, experiment_id)


class ClientWriter:
    """Through MLflow's public client. A run is FINISHED last of all: one that was cut off can be told."""

    def __init__(self, client: MlflowClient, experiment_id: str) -> None:
        self.client, self.experiment_id = client, experiment_id

    def add(self, runs: Sequence[tuple[Entry, Tags]]) -> list[str]:
        """Add runs, given with their tags. Returns their ids."""
        from mlflow.entities import DatasetInput, InputTag, Metric, Param

        ids = []
        for entry, tags in runs:
            id = self.client.create_run(self.experiment_id, entry.start, dict(tags), entry.name).info.run_id
            self.client.log_batch(
                id, [Metric(*row) for row in entry.points()], [Param(k, v) for k, v in entry.params.items()]
            )
            for role, about in entry.data.items():
                given = DatasetInput(dataset(*about), [InputTag("mlflow.data.context", role)])
                at_once(functools.partial(self.client.log_inputs, id, datasets=[given]))
            self.client.set_terminated(id, end_time=entry.end)
            ids.append(id)
        return ids

    def tag(self, tags: Mapping[str, Tags]) -> None:
        """Set tags, given by the ids of runs."""
        from mlflow.entities import RunTag

        for id, values in tags.items():
            self.client.log_batch(id, tags=[RunTag(key, value) for key, value in values.items()])

    def delete(self, ids: Iterable[str]) -> None:
        """Delete runs."""
        for id in ids:
            self.client.delete_run(id)
