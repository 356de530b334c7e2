"""The runs of one size of an experiment in MLflow: what is there, and what is to be done about it."""

import hashlib
import json
import time
from dataclasses import dataclass
from pathlib import Path

KEY, DIGEST, PARENT = "fedatlas.key", "fedatlas.digest", "mlflow.parentRunId"


@dataclass
class _Known:
    """What must be remembered of a run that is in MLflow: thousands of its own run objects take half a gigabyte."""

    id: str
    identity: tuple
    metrics: dict

    @classmethod
    def of(cls, run):
        tags = run.data.tags
        return cls(run.info.run_id, (run.info.status, tags.get(DIGEST), tags.get(PARENT)), run.data.metrics)


class Book:
    """Logs what is new or has changed, and deletes what is gone.

    Runs carry their identity in the tag fedatlas.key, and a hash of their content in fedatlas.digest. A run is
    FINISHED last of all, so that one which was cut off while it was logged is known and replaced.
    """

    def __init__(self, client, experiment_id, size):
        self.client, self.experiment_id, self.size = client, experiment_id, size
        self.counts = {"logged": 0, "unchanged": 0, "deleted": 0}
        self.parent, self.found, token = None, {}, None
        while True:
            where = f"tags.`{KEY}` LIKE '{size}%'"
            page = client.search_runs([experiment_id], where, max_results=1000, page_token=token)
            for run in page:
                self.found.setdefault(run.data.tags[KEY], []).append(_Known.of(run))
            if not (token := page.token):
                break

    def open(self, name, tags, summary):
        """Make or update the parent run."""
        from mlflow.entities import Metric, RunTag

        parent = self._keep(self.size, lambda run: self._shows_only(run, summary))
        if parent is None:
            parent = _Known.of(self.client.create_run(self.experiment_id, tags={KEY: self.size}, run_name=name))
        self.parent, now = parent.id, int(time.time() * 1000)
        self.client.update_run(self.parent, status="RUNNING")
        changed = {key: value for key, value in summary.metrics.items() if parent.metrics.get(key) != value}
        self.client.log_batch(
            self.parent,
            [Metric(key, value, now, 0) for key, value in changed.items()],
            tags=[RunTag(key, value) for key, value in {**tags, "mlflow.note.content": summary.note}.items()],
        )
        self.client.log_dict(self.parent, summary.experiment, "experiment.yaml")
        for place, path in summary.artifacts.items():
            folder = Path(place).parent
            self.client.log_artifact(self.parent, str(path), None if folder == Path() else str(folder))

    def log(self, entry):
        """Log a run, unless it is there as it is."""
        from mlflow.entities import Metric, Param

        digest = entry.digest
        if self._keep(entry.key, lambda run: run.identity == ("FINISHED", digest, self.parent)):
            self.counts["unchanged"] += 1
            return
        tags = {**entry.tags, KEY: entry.key, DIGEST: digest, PARENT: self.parent}
        id = self.client.create_run(self.experiment_id, entry.start, tags, entry.name).info.run_id
        self.client.log_batch(
            id,
            [Metric(key, value, entry.start + int(second * 1000), step) for key, value, step, second in entry.metrics],
            [Param(key, value) for key, value in entry.params.items()],
        )
        if entry.data:
            self.client.log_inputs(id, [_dataset(role, *about) for role, about in entry.data.items()])
        self.client.set_terminated(id, end_time=entry.end)
        self.counts["logged"] += 1

    def close(self):
        """Delete what is no longer in the results; returns the receipt."""
        for key in list(self.found):
            self._keep(key, lambda run: False)
        self.client.set_terminated(self.parent)
        return {"experiment_id": self.experiment_id, "run_id": self.parent, **self.counts}

    def _keep(self, key, good):
        """The first good run of a key, if there is one; all others of that key are deleted."""
        kept = None
        for run in self.found.pop(key, []):
            if kept is None and good(run):
                kept = run
            else:
                self.client.delete_run(run.id)
                self.counts["deleted"] += 1
        return kept

    def _shows_only(self, run, summary):
        """Whether nothing that a parent run shows is gone: MLflow can delete neither a metric nor an artifact."""
        listed = self.client.list_artifacts(run.id)
        inside = [file for item in listed if item.is_dir for file in self.client.list_artifacts(run.id, item.path)]
        shown = {file.path for file in (*listed, *inside) if not file.is_dir} | set(run.metrics)
        return shown <= {*summary.metrics, *summary.artifacts, "experiment.yaml"}


def _dataset(role, name, about):
    """An MLflow input from a data set's provenance, without its data."""
    from mlflow.entities import Dataset, DatasetInput, InputTag

    files = about.get("files", [])
    digest = "".join(file["sha256"] for file in files)
    if len(files) != 1:  # of one file, the digest is its checksum, for who wants to compare
        digest = hashlib.sha256((digest or json.dumps(about, sort_keys=True)).encode()).hexdigest()
    urls = [file["urls"][0] for file in files if file.get("urls")]
    source = {"url": urls[0] if urls else about.get("page", ""), "files": files}
    profile = {"num_rows": about.get("rows"), "classes": about.get("classes"), "licence": about.get("licence")}
    dataset = Dataset(name, digest[:16], "http", json.dumps(source), profile=json.dumps(profile))
    return DatasetInput(dataset, [InputTag("mlflow.data.context", role)])
