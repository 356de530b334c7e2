"""Runs straight into the tables of an MLflow database in SQLite.

MLflow's own client takes seven transactions for a run, 35 ms of a processor; a tuning grid has thousands of runs. The
tables belong to MLflow and change with it. Every state of them has a revision, which the database itself names, and
only databases of a tested revision are written to.
"""

from __future__ import annotations

import contextlib
import operator
import sqlite3
import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedatlas.publish.tracking.datasets import dataset
from fedatlas.publish.tracking.run_records import Entry

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from sqlalchemy import Connection, Table

# Revisions of MLflow's tables with which tests/tracking passes, and the versions of MLflow that have them.
# tests/tracking/versions.sh runs the tests with any version; add the revision that it prints.
TESTED = {
    "bf29a5ff90ea": "3.5.0 to 3.7.0",
    "1bd49d398cd23": "3.8.0 and 3.8.1",
    "d3e4f5a6b7c8": "3.9.0",
    "1b5f0d9ad7c1": "3.10.0 and 3.10.1",
    "c3d6457b6d8a": "3.11.1",
    "7d34483879f0": "3.12.0",
    "da6fb0208061": "3.13.0",
    "b7e4c1a90f23": "3.14.0",
    "6f8d9c3b2a1e": "3.15.0 to 3.15.2",
    "b7e2c1a4d9f3": "3.16.0 and 3.16.1",
    "dc11669786a5": "3.17.0 to 3.17.2",
}

TABLES = ("SqlRun", "SqlTag", "SqlParam", "SqlMetric", "SqlLatestMetric", "SqlInput", "SqlInputTag")
RUN_NAME = "mlflow.runName"


def revision(path: Path) -> str | None:
    """The revision of the tables in an MLflow database; None if it names none, or several."""
    with contextlib.closing(sqlite3.connect(path)) as connection, contextlib.suppress(sqlite3.Error):
        found = connection.execute("SELECT version_num FROM alembic_version").fetchall()
        return found[0][0] if len(found) == 1 else None
    return None


class DatabaseWriter:
    """Into the tables of an MLflow database, one transaction for all that is given: all of it is there, or nothing."""

    def __init__(self, client: MlflowClient, experiment_id: str) -> None:
        self.engine, self.experiment_id = client._tracking_client.store.engine, int(experiment_id)
        self.place = client.get_experiment(experiment_id).artifact_location

    def add(self, runs: Sequence[tuple[Entry, Mapping[str, str]]]) -> list[str]:
        """Add runs, given with their tags. Returns their ids."""
        from mlflow.store.tracking.dbmodels import models

        ids = sorted(uuid.uuid4().hex for _ in runs)  # in an index's order, rows take a fifth less time
        with self.engine.begin() as connection:
            wanted = {about[0]: about for entry, _ in runs for about in entry.data.values()}
            sources = self._datasets(connection, wanted)
            rows: dict[str, list[dict[str, Any]]] = {name: [] for name in TABLES}
            for id, (entry, tags) in zip(ids, runs, strict=True):
                self._rows(rows, id, entry, tags, sources)
            for name, values in rows.items():
                _insert(connection, getattr(models, name).__table__, values)
        return ids

    def _rows(
        self,
        rows: dict[str, list[dict[str, Any]]],
        id: str,
        entry: Entry,
        tags: Mapping[str, str],
        sources: Mapping[str, str],
    ) -> None:
        """Add the rows of a run to those of each table. sources: ids of data sets by name."""
        from mlflow.utils.uri import append_to_uri_path

        about: dict[str, Any] = {"run_uuid": id, "name": entry.name, "status": "FINISHED", "lifecycle_stage": "active"}
        about |= {"start_time": entry.start, "end_time": entry.end, "experiment_id": self.experiment_id}
        about |= {"user_id": tags.get("mlflow.user", "unknown"), "source_type": "UNKNOWN"}
        about |= dict.fromkeys(("source_name", "entry_point_name", "source_version"), "")
        rows["SqlRun"].append(about | {"artifact_uri": append_to_uri_path(self.place, id, "artifacts")})
        tags = {**tags, RUN_NAME: entry.name}
        rows["SqlTag"] += [_row(id, key, value) for key, value in tags.items()]
        rows["SqlParam"] += [_row(id, key, value) for key, value in entry.params.items()]
        latest = {}
        for key, value, timestamp, step in entry.points():
            latest[key] = _row(id, key, value, timestamp=timestamp, step=step, is_nan=False)
            rows["SqlMetric"].append(latest[key])
        rows["SqlLatestMetric"] += latest.values()
        roles = {sources[name]: role for role, (name, _) in reversed(entry.data.items())}  # MLflow keeps the first one
        for source, role in reversed(roles.items()):
            input = uuid.uuid4().hex
            edge = {"source_type": "DATASET", "source_id": source, "destination_type": "RUN"}
            rows["SqlInput"].append(edge | {"input_uuid": input, "destination_id": id, "step": 0})
            rows["SqlInputTag"].append({"input_uuid": input, "name": "mlflow.data.context", "value": role})

    def _datasets(self, connection: Connection, wanted: Mapping[str, tuple[str, dict[str, Any]]]) -> dict[str, str]:
        """Ids of data sets by name, added if need be."""
        from mlflow.store.tracking.dbmodels.models import SqlDataset

        table, ids = SqlDataset.__table__, {}
        for name, about in wanted.items():
            found = dataset(*about)
            key: dict[str, Any] = {"experiment_id": self.experiment_id, "name": found.name, "digest": found.digest}
            query = table.select().filter_by(**key)
            if (known := connection.execute(query).first()) is not None:
                ids[name] = known.dataset_uuid
                continue
            ids[name] = uuid.uuid4().hex
            key |= {"dataset_uuid": ids[name], "dataset_source_type": found.source_type}
            key |= {"dataset_source": found.source, "dataset_profile": found.profile}
            connection.execute(table.insert(), key)
        return ids

    def tag(self, tags: Mapping[str, Mapping[str, str]]) -> None:
        """Set tags, given by the ids of runs."""
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
        with self.engine.begin() as connection:
            for id in ids:
                changed = {"lifecycle_stage": "deleted", "deleted_time": now}
                connection.execute(table.update().where(table.c.run_uuid == id).values(changed))


def _insert(connection: Connection, table: Table, rows: list[dict[str, Any]]) -> None:
    """Insert rows of the same keys in the way of the database's driver, without SQLAlchemy's work for each."""
    if rows:
        insert = table.insert().compile(dialect=connection.dialect, column_keys=list(rows[0]))
        places = insert.positiontup  # of an SQLite driver, which takes values by their places
        connection.exec_driver_sql(str(insert), list(map(operator.itemgetter(*places), rows)) if places else rows)


def _row(id: str, key: str, value: Any, **more: Any) -> dict[str, Any]:
    return {"run_uuid": id, "key": key, "value": value, **more}
