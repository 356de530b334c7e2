"""The runs of one size of an experiment in MLflow: which are there, and which are to be added, changed or removed."""

from __future__ import annotations

import functools
import math
import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import yaml

from fedatlas.publish.tracking.addresses import database_path
from fedatlas.publish.tracking.artifacts import Artifacts
from fedatlas.publish.tracking.parent_run import Summary
from fedatlas.publish.tracking.run_records import LONGEST_TAG, Entry, text
from fedatlas.publish.tracking.writers import writer

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run

KEY, DIGEST, PARENT, CHOSEN = "fedatlas.key", "fedatlas.digest", "mlflow.parentRunId", "chosen"
COLOUR, USER = "mlflow.runColor", "mlflow.user"
TOGETHER = 100_000  # values that are added at once: hundreds of runs cost little more than one


@dataclass
class _Known:
    """What must be remembered of a run that is in MLflow: thousands of its own run objects take half a gigabyte."""

    id: str
    start: int
    identity: tuple[str, str | None]
    late: dict[str, str]
    metrics: dict[str, float]

    @classmethod
    def of(cls, run: Run) -> _Known:
        tags = run.data.tags
        late = {key: tags[key] for key in (PARENT, CHOSEN, COLOUR) if key in tags}
        return cls(run.info.run_id, run.info.start_time, (run.info.status, tags.get(DIGEST)), late, run.data.metrics)


def _is(identity: tuple[str, str], run: _Known) -> bool:
    return run.identity == identity


class Book:
    """Logs what is new or has changed, and deletes what is gone.

    Runs carry their identity in the tag fedatlas.key, and a hash of their content in fedatlas.digest: what a job that
    is tried again, or a request that was answered too late, has logged twice is found and deleted. Whose child a run is
    and whether it was chosen, and its colour, are tags that are set and changed later.

    prefix: of the keys that this book is about: a size, or the cell of one job. uri: that the client writes to.
    """

    def __init__(self, client: MlflowClient, experiment_id: str, prefix: str, uri: str) -> None:
        self.client, self.experiment_id, self.prefix = client, experiment_id, prefix
        self.writer = writer(client, experiment_id, database_path(uri))
        self.artifacts = Artifacts(client, experiment_id, uri)
        self.new: list[tuple[Entry, dict[str, str]]] = []
        self.counts = {"logged": 0, "unchanged": 0, "deleted": 0}
        self.parent: str | None = None
        self.end: int | None = None  # of the parent
        self.found: dict[str, list[_Known]] = {}
        token = None
        while True:
            where = f"tags.`{KEY}` LIKE '{re.sub(r'[^A-Za-z0-9/=.,-]', '_', prefix)}%'"
            page = client.search_runs([experiment_id], where, max_results=1000, page_token=token)
            for run in page:
                if run.data.tags[KEY].startswith(prefix):  # in a pattern, _ is any character
                    self.found.setdefault(run.data.tags[KEY], []).append(_Known.of(run))
            if not (token := page.token):
                break

    def open(self, name: str, tags: Mapping[str, str], summary: Summary, ended: int) -> None:
        """Make or update the parent run, whose duration is that of training, of all runs together.

        name, tags: of it. ended: when the last of its runs did, in milliseconds since 1970.
        """
        from mlflow.entities import Metric, RunTag

        parent = self._keep(self.prefix, lambda run: self._shows_only(run, summary))
        trained = math.ceil(1000 * (summary.seconds or 0))
        if parent is None:
            own = {KEY: self.prefix, **({USER: tags[USER]} if USER in tags else {})}
            parent = _Known.of(self.client.create_run(self.experiment_id, ended - trained, own, name))
        self.end = parent.start + trained  # MLflow can change the end of a run, and not its start
        self.parent, now = parent.id, int(time.time() * 1000)
        self.client.update_run(self.parent, status="RUNNING")
        changed = {key: value for key, value in summary.metrics.items() if parent.metrics.get(key) != value}
        self.client.log_batch(
            self.parent,
            [Metric(key, value, now, 0) for key, value in changed.items()],
            tags=[
                RunTag(key, text(value, LONGEST_TAG))
                for key, value in {**tags, "mlflow.note.content": summary.note}.items()
            ],
        )
        content = yaml.safe_dump(summary.content, sort_keys=False, allow_unicode=True).encode()
        for place, source in {"experiment.yaml": content, **summary.artifacts}.items():
            self.artifacts.put(self.parent, place, source)

    def log(self, entries: Iterable[Entry]) -> None:
        """Log runs, at the latest when the book is closed, unless they are there as they are."""
        late = {}
        for entry in entries:
            digest = entry.digest
            given = {PARENT: self.parent, CHOSEN: entry.chosen, COLOUR: entry.colour}
            mine = {key: value for key, value in given.items() if value is not None}
            known = self._keep(entry.key, functools.partial(_is, ("FINISHED", digest)))
            if known is None:
                self.new.append((entry, {**entry.tags, **mine, KEY: entry.key, DIGEST: digest}))
                self.counts["logged"] += 1
                continue
            self.counts["unchanged"] += 1
            if entry.files and not entry.files.keys() <= self.artifacts.listed(known.id):
                self._put(known.id, entry.files)
            if not mine.items() <= known.late.items():
                late[known.id] = mine
        self.writer.tag(late)
        if sum(len(entry.metrics) for entry, _ in self.new) >= TOGETHER:
            self._add()

    def _add(self) -> None:
        for id, (entry, _) in zip(self.writer.add(self.new), self.new, strict=True):
            self._put(id, entry.files)
        self.new = []

    def _put(self, id: str, files: Mapping[str, bytes]) -> None:
        for place, content in files.items():
            self.artifacts.put(id, place, content)

    def close(self) -> dict[str, Any]:
        """Add what is left, delete what is not among the results; returns ids and counts."""
        self._add()
        for key in list(self.found):
            self._keep(key, lambda run: False)
        if self.parent is not None:
            self.client.set_terminated(self.parent, end_time=self.end)
        return {"experiment_id": self.experiment_id, "run_id": self.parent, **self.counts}

    def _keep(self, key: str, good: Callable[[_Known], bool]) -> _Known | None:
        """The first good run of a key, if there is one; all others of that key are deleted."""
        runs = self.found.pop(key, [])
        kept = next(filter(good, runs), None)
        others = [run.id for run in runs if run is not kept]
        if others:
            self.writer.delete(others)
            self.counts["deleted"] += len(others)
        return kept

    def _shows_only(self, run: _Known, summary: Summary) -> bool:
        """Whether nothing that a parent run shows is gone: MLflow can delete neither a metric nor an artifact."""
        shown = self.artifacts.listed(run.id) | set(run.metrics)
        return shown <= {*summary.metrics, *summary.artifacts, "experiment.yaml"}
