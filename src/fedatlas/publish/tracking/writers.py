"""Writers of runs: through MLflow's public client, or faster into the tables of an MLflow database in SQLite.

MLflow's own client takes seven transactions for a run, 35 ms of a processor; a tuning grid has thousands of runs. The
tables belong to MLflow and change with it. Each state of them has a revision, which the database itself names, and only
databases of a tested revision are written to.
"""

from __future__ import annotations

import functools
import hashlib
import json
import operator
import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from fedatlas.publish.tracking.connection import retry_once
from fedatlas.publish.tracking.run_records import RunRecord
from fedatlas.publish.tracking.sqlite import revision

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Dataset
    from sqlalchemy import Connection, Table

Tags = Mapping[str, str]

# Revisions of MLflow's tables with which tests/tracking passes, and the versions of MLflow that have them.
# tests/tracking/versions.sh runs the tests with any version; add the revision that it prints.
TESTED_REVISIONS = {
    "b7e2c1a4d9f3": "3.16.0 and 3.16.1",
    "dc11669786a5": "3.17.0 to 3.17.2",
}
TABLES = ("SqlRun", "SqlTag", "SqlParam", "SqlMetric", "SqlLatestMetric", "SqlInput", "SqlInputTag")
RUN_NAME = "mlflow.runName"
MAX_SOURCE = 65_000  # characters that MLflow stores of the source of a dataset


class Writer(Protocol):
    """Writes many runs of one MLflow experiment at once."""

    def add(self, runs: Sequence[tuple[RunRecord, Tags]]) -> list[str]:
        """Add runs with their tags and return their ids."""

    def tag(self, tags: Mapping[str, Tags]) -> None:
        """Set tags, by the ids of runs."""

    def delete(self, ids: Iterable[str]) -> None:
        """Delete runs, as MLflow does: they are hidden until `mlflow gc` removes them."""


def create_writer(client: MlflowClient, experiment_id: str, path: Path | None) -> Writer:
    """Return the writer for a client's database or server.

    Args:
        client: Client of the database or server.
        experiment_id: Id of the experiment in MLflow.
        path: Path of the SQLite database; None for a server.
    """
    if path is not None and revision(path) in TESTED_REVISIONS:
        return DatabaseWriter(client, experiment_id)
    return ClientWriter(client, experiment_id)


def create_dataset(name: str, provenance: Mapping[str, Any]) -> Dataset:
    """Return an MLflow Dataset without its data.

    Args:
        name: Name of the data set.
        provenance: Its provenance, from the metadata of run files.
    """
    from mlflow.entities import Dataset

    files = provenance.get("files", [])
    digest = "".join(file["sha256"] for file in files)
    if len(files) != 1:  # the digest of a single file is its checksum, so that people can compare it
        digest = hashlib.sha256((digest or json.dumps(provenance, sort_keys=True)).encode()).hexdigest()
    urls = [file["urls"][0] for file in files if file.get("urls")]
    source = {"url": urls[0] if urls else provenance.get("page", ""), "files": files}
    if len(json.dumps(source)) > MAX_SOURCE:
        source = {"url": source["url"]}
    profile = {"num_rows": provenance.get("rows")} | {key: provenance.get(key) for key in ("classes", "licence")}
    return Dataset(name, digest[:16], "http", json.dumps(source), profile=json.dumps(profile))


class ClientWriter:
    """Writes through MLflow's public client.

    The status FINISHED comes last, so that a run whose writing was interrupted is recognised.
    """

    def __init__(self, client: MlflowClient, experiment_id: str) -> None:
        self.client, self.experiment_id = client, experiment_id

    def add(self, runs: Sequence[tuple[RunRecord, Tags]]) -> list[str]:
        """Add runs with their tags and return their ids."""
        from mlflow.entities import DatasetInput, InputTag, Metric, Param

        ids = []
        for run, tags in runs:
            id = self.client.create_run(self.experiment_id, run.start, dict(tags), run.name).info.run_id
            metrics = [Metric(*row) for row in run.timed_metrics()]
            self.client.log_batch(id, metrics, [Param(key, value) for key, value in run.params.items()])
            for role, (name, provenance) in run.data.items():
                dataset = create_dataset(name, provenance)
                inputs = [DatasetInput(dataset, [InputTag("mlflow.data.context", role)])]
                retry_once(functools.partial(self.client.log_inputs, id, datasets=inputs))
            self.client.set_terminated(id, end_time=run.end)
            ids.append(id)
        return ids

    def tag(self, tags: Mapping[str, Tags]) -> None:
        """Set tags, by the ids of runs."""
        from mlflow.entities import RunTag

        for id, values in tags.items():
            self.client.log_batch(id, tags=[RunTag(key, value) for key, value in values.items()])

    def delete(self, ids: Iterable[str]) -> None:
        """Delete runs."""
        for id in ids:
            self.client.delete_run(id)


class DatabaseWriter:
    """Writes into the tables of an MLflow database, in one transaction per call: all of it is there, or nothing."""

    def __init__(self, client: MlflowClient, experiment_id: str) -> None:
        self.engine, self.experiment_id = client._tracking_client.store.engine, int(experiment_id)
        self.artifact_uri = client.get_experiment(experiment_id).artifact_location

    def add(self, runs: Sequence[tuple[RunRecord, Tags]]) -> list[str]:
        """Add runs with their tags and return their ids."""
        from mlflow.store.tracking.dbmodels import models

        ids = sorted(uuid.uuid4().hex for _ in runs)  # in an index's order, rows take a fifth less time
        with self.engine.begin() as connection:
            provenance = dict(pair for run, _ in runs for pair in run.data.values())
            dataset_ids = self._dataset_ids(connection, provenance)
            rows: dict[str, list[dict[str, Any]]] = {name: [] for name in TABLES}
            for id, (run, tags) in zip(ids, runs, strict=True):
                self._add_rows(rows, id, run, tags, dataset_ids)
            for name, values in rows.items():
                _insert(connection, getattr(models, name).__table__, values)
        return ids

    def _add_rows(
        self,
        rows: dict[str, list[dict[str, Any]]],
        id: str,
        run: RunRecord,
        tags: Tags,
        dataset_ids: Mapping[str, str],
    ) -> None:
        """Append the rows of a run to those of each table."""
        from mlflow.utils.uri import append_to_uri_path

        row: dict[str, Any] = {"run_uuid": id, "name": run.name, "status": "FINISHED", "lifecycle_stage": "active"}
        row |= {"start_time": run.start, "end_time": run.end, "experiment_id": self.experiment_id}
        row |= {"user_id": tags.get("mlflow.user", "unknown"), "source_type": "UNKNOWN"}
        row |= dict.fromkeys(("source_name", "entry_point_name", "source_version"), "")
        rows["SqlRun"].append(row | {"artifact_uri": append_to_uri_path(self.artifact_uri, id, "artifacts")})
        tags = {**tags, RUN_NAME: run.name}
        rows["SqlTag"] += [_row(id, key, value) for key, value in tags.items()]
        rows["SqlParam"] += [_row(id, key, value) for key, value in run.params.items()]
        latest = {}
        for key, value, timestamp, step in run.timed_metrics():
            latest[key] = _row(id, key, value, timestamp=timestamp, step=step, is_nan=False)
            rows["SqlMetric"].append(latest[key])
        rows["SqlLatestMetric"] += latest.values()
        # MLflow stores the first role of a dataset that has two
        roles = {dataset_ids[name]: role for role, (name, _) in reversed(run.data.items())}
        for dataset_id, role in reversed(roles.items()):
            input_id = uuid.uuid4().hex
            edge = {"source_type": "DATASET", "source_id": dataset_id, "destination_type": "RUN"}
            rows["SqlInput"].append(edge | {"input_uuid": input_id, "destination_id": id, "step": 0})
            rows["SqlInputTag"].append({"input_uuid": input_id, "name": "mlflow.data.context", "value": role})

    def _dataset_ids(self, connection: Connection, data: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
        """Return ids of data sets by name; those that the database lacks are added.

        Args:
            connection: Connection to the database.
            data: Provenance of data sets by name.
        """
        from mlflow.store.tracking.dbmodels.models import SqlDataset

        table, ids = SqlDataset.__table__, {}
        for name, provenance in data.items():
            dataset = create_dataset(name, provenance)
            key: dict[str, Any] = {"experiment_id": self.experiment_id, "name": dataset.name, "digest": dataset.digest}
            query = table.select().filter_by(**key)
            if (row := connection.execute(query).first()) is not None:
                ids[name] = row.dataset_uuid
                continue
            ids[name] = uuid.uuid4().hex
            key |= {"dataset_uuid": ids[name], "dataset_source_type": dataset.source_type}
            key |= {"dataset_source": dataset.source, "dataset_profile": dataset.profile}
            connection.execute(table.insert(), key)
        return ids

    def tag(self, tags: Mapping[str, Tags]) -> None:
        """Set tags, by the ids of runs."""
        from mlflow.store.tracking.dbmodels.models import SqlTag

        table = SqlTag.__table__
        with self.engine.begin() as connection:
            for id, values in tags.items():
                connection.execute(table.delete().where(table.c.run_uuid == id, table.c.key.in_(list(values))))
                connection.execute(table.insert(), [_row(id, key, value) for key, value in values.items()])

    def delete(self, ids: Iterable[str]) -> None:
        """Delete runs, as MLflow does: they are hidden until `mlflow gc` removes them."""
        from mlflow.store.tracking.dbmodels.models import SqlRun

        table, now = SqlRun.__table__, int(time.time() * 1000)
        deleted = {"lifecycle_stage": "deleted", "deleted_time": now}
        with self.engine.begin() as connection:
            for id in ids:
                connection.execute(table.update().where(table.c.run_uuid == id).values(deleted))


def _insert(connection: Connection, table: Table, rows: list[dict[str, Any]]) -> None:
    """Insert rows of the same keys by the database's driver, without SQLAlchemy's work for each row."""
    if rows:
        insert = table.insert().compile(dialect=connection.dialect, column_keys=list(rows[0]))
        columns = insert.positiontup  # of an SQLite driver, which takes values by position
        connection.exec_driver_sql(str(insert), list(map(operator.itemgetter(*columns), rows)) if columns else rows)


def _row(id: str, key: str, value: Any, **columns: Any) -> dict[str, Any]:
    return {"run_uuid": id, "key": key, "value": value, **columns}
