"""A run as MLflow is to show it: names, tags, parameters, metrics, files, and the runs beneath it."""

from __future__ import annotations

import contextlib
import functools
import getpass
import hashlib
import json
import math
import platform
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fedatlas.experiments import axis_values
from fedatlas.publish.report.facts import ExperimentFacts

KEY, DIGEST, PLACE = "fedatlas.key", "fedatlas.digest", "fedatlas.place"
PARENT, USER, COLOUR, NOTE = "mlflow.parentRunId", "mlflow.user", "mlflow.runColor", "mlflow.note.content"
COMMIT = "mlflow.source.git.commit"
LOGGER_TAGS = (COMMIT, USER, "host")  # of the person who logs, not of the run
SYSTEM = "system/"  # prefix of MLflow's names of system metrics
MAX_KEY = 4000  # characters of the key of a setting, to which those beneath it add a seed
MAX_PARAM, MAX_TAG, MAX_NAME = 6000, 8000, 250  # characters that MLflow stores of a value, and of a run's name


@dataclass
class RunRecord:
    """A run, with the runs beneath it, as MLflow is to show it.

    Attributes:
        key: Identity: size, algorithm's id, point of the axes; of a seed's run also the seed.
        name: Name for people.
        tags: Tags.
        params: Parameters.
        metrics: Rows (name, value, step, seconds into the run).
        data: Provenance of data sets by name.
        files: Content of artifacts, or a file with it, by path.
        start: Start, in milliseconds since 1970.
        end: End, in milliseconds since 1970.
        place: Place in the list of runs, which the scores of others decide; None before they are known.
        children: Runs beneath this one.
    """

    key: str
    name: str
    tags: dict[str, str]
    params: dict[str, str] = field(default_factory=dict)
    metrics: list[tuple[str, float, int, float]] = field(default_factory=list)
    data: dict[str, dict[str, Any]] = field(default_factory=dict)
    files: dict[str, bytes | Path] = field(default_factory=dict)
    start: int = 0
    end: int = 0
    place: str | None = None
    children: Sequence[RunRecord] = ()

    def timed_metrics(self) -> list[tuple[str, float, int, int]]:
        """Return the metrics that MLflow can show as (name, value, milliseconds since 1970, step)."""
        finite = (row for row in self.metrics if math.isfinite(row[1]))  # it stores infinity as 1.8e308
        return [(name, value, self.start + int(second * 1000), step) for name, value, step, second in finite]

    @functools.cached_property
    def digest(self) -> str:
        """Hash of all but places, times and the person who logs, which change without a result changing."""
        tags = {key: value for key, value in self.tags.items() if key not in LOGGER_TAGS}
        results = [row[:3] for row in self.metrics if row[0] != "seconds" and not row[0].startswith(SYSTEM)]
        contents = {path: file if isinstance(file, bytes) else file.read_bytes() for path, file in self.files.items()}
        files = {path: hashlib.sha256(content).hexdigest() for path, content in contents.items()}
        children = [child.digest for child in self.children]
        parts = [self.key, self.name, tags, self.params, results, self.data, files, children]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]


def clean_text(value: Any, length: int) -> str:
    """Return a value as text that every database takes: no NUL, no halves of surrogate pairs, cut to a length."""
    return str(value).replace("\0", "\ufffd").encode("utf-8", "replace").decode()[:length]


def clean_tags(tags: Mapping[str, Any]) -> dict[str, str]:
    """Return tags as text that every database takes."""
    return {key: clean_text(value, MAX_TAG) for key, value in tags.items()}


def setting_key(size: str, id: str, point: Mapping[str, Any]) -> str:
    """Return the key of the run of an algorithm's id at a point of the axes, as text that fits a tag."""
    values = {axis: axis_values.text(value) for axis, value in point.items()}  # alike for equal values
    key = clean_text(f"{size}/{id}/{json.dumps(values, sort_keys=True)}", sys.maxsize)
    return key if len(key) <= MAX_KEY else f"{size}/{id}/{hashlib.sha256(key.encode()).hexdigest()}"


def paper_tags(facts: ExperimentFacts) -> dict[str, str]:
    """Return tags in words of the paper and of the place in it: ``FedAc``, ``NeurIPS 2020``, ``Figure 1``."""
    return {"paper": facts.paper.short, "venue": facts.paper.meeting, "source": facts.source}


def common_tags(facts: ExperimentFacts) -> dict[str, str]:
    """Return tags of all runs: the experiment's, user, host, and the project's commit if it has one."""
    tags = {**facts.tags, **paper_tags(facts), "host": platform.node()}
    with contextlib.suppress(OSError, KeyError):  # in a container the user may have no name
        tags[USER] = getpass.getuser()
    command = ["git", "-C", str(Path(facts.file).parent), "rev-parse", "HEAD"]
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        tags[COMMIT] = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True).stdout.strip()
    return tags
