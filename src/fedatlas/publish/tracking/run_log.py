"""Bringing the runs of an experiment in MLflow up to date, through MLflow's public client."""

from __future__ import annotations

import functools
import hashlib
import json
import re
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedatlas.io.files import atomic
from fedatlas.publish.tracking.addresses import database_path
from fedatlas.publish.tracking.connection import SCHEME, artifact_folder, retry_once
from fedatlas.publish.tracking.run_record import DIGEST, KEY, PARENT, PLACE, RunRecord

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Dataset, Experiment, Run

PAGE = 1000  # runs that a search returns at once
REQUESTS = 8  # that a server gets at the same time; an SQLite file takes one writer
MAX_SOURCE = 65_000  # characters that MLflow stores of the source of a dataset


class RunLog:
    """Adds runs that are new or have changed, and deletes runs that are no longer among the results.

    Runs carry their identity in the tag fedatlas.key, and a hash of their content and of the runs beneath them in
    fedatlas.digest. The status FINISHED is written last, so a run that was cut off is recognised and written again. A
    run that was logged twice, by a job that is tried again or a request that was answered too late, is found and
    deleted.

    Args:
        client: Client of the database or server.
        experiment: Experiment in MLflow.
        uri: Address of the database or server.
        prefix: Prefix of the keys of all runs of this log: a size, or an algorithm at this size.
    """

    def __init__(self, client: MlflowClient, experiment: Experiment, uri: str, prefix: str) -> None:
        self.client, self.id = client, experiment.experiment_id
        path = database_path(uri)
        self.pool = functools.partial(ThreadPoolExecutor, REQUESTS if path is None else 1)
        # Beside a database there is no server that knows the folder of a relative address, as `fedatlas ui` does
        relative = path is not None and experiment.artifact_location == f"{SCHEME}{experiment.name}"
        self.folder = artifact_folder(path) / experiment.name if path is not None and relative else None
        self.parents: dict[str, list[Run]] = {}
        self.children: dict[str, list[Run]] = {}
        for run in self._search(prefix):
            parent, key = run.data.tags.get(PARENT), run.data.tags[KEY]
            group, name = (self.parents, key) if parent is None else (self.children, parent)
            group.setdefault(name, []).append(run)

    def _search(self, prefix: str) -> Iterable[Run]:
        """Yield the runs whose keys have a prefix."""
        query, token = f"tags.`{KEY}` LIKE '{re.sub(r'[^A-Za-z0-9/=.,-]', '_', prefix)}%'", None
        while True:
            page = self.client.search_runs([self.id], query, max_results=PAGE, page_token=token)
            for run in page:
                if run.data.tags[KEY].startswith(prefix):  # in a pattern, _ is any character
                    yield run
            if not (token := page.token):
                return

    def update(self, records: Sequence[RunRecord], whole: bool) -> dict[str, Any]:
        """Bring runs up to date and return how many were logged, unchanged and deleted, and the id of the first.

        Args:
            records: The runs.
            whole: Whether these are all runs of this log, so that others are deleted.
        """
        new, obsolete, moved = [], list[str](), {}
        ids = dict[str, str]()
        for record in records:
            stored = self.parents.pop(record.key, [])
            state = ("FINISHED", record.digest)
            current = next((run for run in stored if (run.info.status, run.data.tags.get(DIGEST)) == state), None)
            obsolete += [run.info.run_id for run in stored if run is not current]
            if current is None:
                new.append(record)
                continue
            ids[record.key] = current.info.run_id
            if record.place not in (None, current.data.tags.get(PLACE)):
                moved[current.info.run_id] = record.place
            seen = set[str]()
            for child in self.children.pop(current.info.run_id, []):
                if child.info.status == "FINISHED" and child.data.tags[KEY] not in seen:
                    seen.add(child.data.tags[KEY])
                else:
                    obsolete.append(child.info.run_id)
        if whole:
            obsolete += [run.info.run_id for runs in self.parents.values() for run in runs]
            obsolete += [run.info.run_id for runs in self.children.values() for run in runs]
        else:
            obsolete += [run.info.run_id for id in obsolete for run in self.children.get(id, [])]
        with self.pool() as pool:
            list(pool.map(self.client.delete_run, obsolete))
            list(pool.map(lambda id: self.client.set_tag(id, PLACE, moved[id]), moved))
            ids |= zip((record.key for record in new), pool.map(self._add, new), strict=True)
        counts = {"logged": len(new), "unchanged": len(records) - len(new), "deleted": len(obsolete)}
        return {"run_id": ids[records[0].key] if records else None, **counts}

    def _add(self, record: RunRecord, parent: str | None = None) -> str:
        """Add a run and the runs beneath it, and return its id."""
        from mlflow.entities import DatasetInput, InputTag, Metric, Param

        marks = {PARENT: parent} if parent is not None else {DIGEST: record.digest, PLACE: record.place}
        tags = record.tags | {KEY: record.key} | {key: value for key, value in marks.items() if value is not None}
        id = self.client.create_run(self.id, record.start, tags, record.name).info.run_id
        for child in record.children:
            self._add(child, id)
        metrics = [Metric(*row) for row in record.timed_metrics()]
        self.client.log_batch(id, metrics, [Param(key, value) for key, value in record.params.items()])
        if record.data:
            sets = [create_dataset(name, provenance) for name, provenance in record.data.items()]
            inputs = [DatasetInput(dataset, [InputTag("mlflow.data.context", "training")]) for dataset in sets]
            retry_once(functools.partial(self.client.log_inputs, id, datasets=inputs))
        if record.files:
            self._write_files(id, record.files)
        self.client.set_terminated(id, end_time=record.end)
        return id

    def _write_files(self, id: str, files: Mapping[str, bytes | Path]) -> None:
        """Add artifacts to a run."""
        with tempfile.TemporaryDirectory() as directory:
            root = Path(directory) if self.folder is None else self.folder / id / "artifacts"
            for name, source in files.items():
                with atomic(root / name) as temporary:
                    shutil.copyfile(source, temporary) if isinstance(source, Path) else temporary.write_bytes(source)
            if self.folder is None:
                self.client.log_artifacts(id, directory)


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
