"""Run files as single runs with names, tags, parameters and metrics."""

from __future__ import annotations

import contextlib
import getpass
import hashlib
import json
import math
import platform
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fedatlas.errors import UserError
from fedatlas.experiments import axis_values, scores
from fedatlas.experiments.cells import Run, Select, format_value
from fedatlas.experiments.metadata import RunMeta
from fedatlas.experiments.result_files import read
from fedatlas.experiments.runs import runs
from fedatlas.federation.engine.setting import Setting
from fedatlas.publish.report.record import PROBLEM_CONSTANT, ExperimentRecord, field_defaults
from fedatlas.publish.tracking import extras, models
from fedatlas.results.figures.style import styles

if TYPE_CHECKING:
    import pandas as pd

COSTS = ("gradients", "vectors_up", "seconds")
OF_THE_LOG = ("commit", "mlflow.source.git.commit", "mlflow.user", "host")  # tags of who logs, and not of the run
SYSTEM = "system/"  # how MLflow's names of system metrics begin
TIMED = (SYSTEM, "seconds")  # what another run on another day would not repeat
SYMBOLS = {"clients": "M", "local_steps": "K"}
LONGEST_PARAM, LONGEST_TAG, LONGEST_NAME = 6000, 8000, 250  # what MLflow keeps of a value, and of a run's name

Rows = Mapping[str, list[Any]]  # columns of a run file
Chosen = Callable[[str, Mapping[str, Any]], bool]  # whether a run of an algorithm's id and these values was chosen


@dataclass
class Entry:
    """A single run.

    metrics: (name, value, round, seconds into the run). data: role -> (name, provenance). files: artifacts by place.
    start, end: milliseconds since 1970. What follows is no part of the run's content. colour: of the algorithm in the
    experiment's figures. chosen: "true" or "false", of a run on a scoring seed, once the experiment's table says which
    tuned values won.
    """

    key: str
    name: str
    tags: dict[str, str]
    params: dict[str, str]
    metrics: list[tuple[str, float, int, float]]
    data: dict[str, tuple[str, dict[str, Any]]]
    files: dict[str, bytes]
    start: int
    end: int
    colour: str
    chosen: str | None = None

    def points(self) -> list[tuple[str, float, int, int]]:
        """Metrics as (name, value, milliseconds since 1970, round)."""
        return [(name, value, self.start + int(second * 1000), step) for name, value, step, second in self.metrics]

    @property
    def digest(self) -> str:
        """Hash of all but times and who logs, which change without a result changing."""
        results = [
            (name, value, step)
            for name, value, step, _ in self.metrics
            if name != "seconds" and not name.startswith(SYSTEM)
        ]
        tags = {key: value for key, value in self.tags.items() if key not in OF_THE_LOG}
        files = {place: hashlib.sha256(content).hexdigest() for place, content in self.files.items()}
        own = [self.name, tags, self.params, results, self.data, *([files] if files else [])]
        content = json.dumps(own, sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()[:32]


def text(value: Any, longest: int) -> str:
    """A value as text that every database takes: without NUL and halves of surrogate pairs, cut to a length."""
    return str(value).replace("\0", "\ufffd").encode("utf-8", "replace").decode()[:longest]


def _key(*parts: str) -> str:
    """The identity of a run as text that a tag can hold whole."""
    key = text("/".join(parts), sys.maxsize)
    if len(key) <= LONGEST_TAG:
        return key
    *place, _ = parts
    return text("/".join([*place, hashlib.sha256(key.encode()).hexdigest()]), LONGEST_TAG)


def read_runs(
    about: ExperimentRecord, path: Path, tags: Mapping[str, str], chosen: Chosen | None = None
) -> Iterator[Entry]:
    """The runs in a run file.

    path: of the file, in a folder of the algorithm's id. tags: of all runs of the experiment. chosen: which runs were
    chosen; None while this is not known. Raises UserError if the file does not hold the runs of its specification.
    """
    frame, plain_meta = read(path)
    meta = RunMeta.of(plain_meta)
    id, spec = path.parent.name, meta.spec
    point = {axis: spec.axis_value(axis) for axis in about.grid}
    metrics = scores.metric_columns(frame, (*spec.within, *spec.tune))
    lossy = [name for name, source in meta.data.items() if source.get("lossy")]
    wanted = list(runs(spec, meta.searches))
    look, made, kept = colours(about)[id], _versions(meta), extras.load(path)
    starts = np.flatnonzero(frame["round"] == 0)  # runs follow each other in the order of their specification
    if len(wanted) != len(starts):
        raise UserError(f"{path} does not hold the runs of its specification; delete it and run again")
    end = int(path.stat().st_mtime * 1000)
    columns = {name: frame[name].tolist() for name in frame.columns}  # slices of frames take longer than all the rest
    for run, start, stop in zip(wanted, starts, [*starts[1:], len(frame)], strict=True):
        rows = {name: values[start:stop] for name, values in columns.items()}
        values = {**point, **run.within, **run.tune}
        tunes = run.seed in spec.tuning_seeds
        own = {"algorithm": id, "fingerprint": meta.fingerprint, "status": rows["status"][-1], "versions": made}
        own["phase"] = "tuning" if tunes else "scoring"
        if own["status"] == "diverged":
            own["diverged_round"] = str(rows["diverged_round"][-1])
        if lossy:
            own["lossy data"] = ", ".join(lossy)
        extra = kept.get(run.key, extras.Extra())
        yield Entry(
            key=_key(about.size, id, path.stem, run.key),
            name=text(run_name(id, {**values, "seed": run.seed}), LONGEST_NAME),
            tags={key: text(value, LONGEST_TAG) for key, value in {**tags, **own}.items()},
            params=_params(run, about.defaults[id], {**point, **run.within}),
            metrics=[*_metrics(rows, (*metrics, *COSTS)), *_score(rows, about.select, tunes), *_system(extra)],
            data={
                role: (run.problem[key], meta.data[run.problem[key]])
                for role, key in (("training", "data"), ("test", "test"))
                if run.problem.get(key)
            },
            files={} if tunes else models.files(run, extra, meta.data),
            start=end - math.ceil(rows["seconds"][-1] * 1000),
            end=end,
            colour=look,
            chosen=None if chosen is None or tunes else str(chosen(id, values)).lower(),
        )


def run_name(id: str, values: Mapping[str, Any]) -> str:
    """A run's name: ``fedac-1 K=16 M=64 lr=0.1 seed=0``."""
    parts = [id]
    for axis, value in values.items():
        word = format_value(value).replace(" ", "")
        parts.append(f"{SYMBOLS.get(axis, axis.split('.')[-1])}={word if len(word) <= 40 else word[:39] + '…'}")
    return " ".join(parts)


def _params(run: Run, defaults: Mapping[str, Any], point: Mapping[str, Any]) -> dict[str, str]:
    """Hyper-parameters, setting and problem of a run as text, and its place on axes that lie within one of them.

    defaults: of the algorithm's hyper-parameters. point: the values of the experiment's axes.
    """
    setting = Setting(**run.setting)
    found: dict[str, Any] = {"algorithm": run.algorithm, "seed": run.seed}
    found |= field_defaults(Setting) | run.setting
    found |= {"local_steps": setting.local_steps, "rounds": setting.total_rounds, "batch": setting.batch or "all"}
    given = {k: v for k, v in run.parameters.items() if v is not None or defaults.get(k) != PROBLEM_CONSTANT}
    found |= {**defaults, **given}
    found |= {f"problem.{key}": value for key, value in run.problem.items()}
    found = {parameter(axis): value for axis, value in point.items()} | found
    texts = {key: format_value(v) if isinstance(v, (dict, list)) else v for key, v in found.items() if v is not None}
    return {key: text(value, LONGEST_PARAM) for key, value in texts.items()}


def _metrics(rows: Rows, names: Iterable[str]) -> Iterator[tuple[str, float, int, float]]:
    for name in names:
        for value, step, second in zip(rows[name], rows["round"], rows["seconds"], strict=True):
            if math.isfinite(value):  # MLflow would make 1.8e308 of infinity, which no chart survives
                yield name, float(value), step, second


def _system(extra: extras.Extra) -> Iterator[tuple[str, float, int, float]]:
    """What was sampled of the machine, with the number of the sample in place of a round."""
    for number, (second, values) in enumerate(extra.usage):
        for name, value in values.items():
            yield f"{SYSTEM}{name}", float(value), number, second


def _score(rows: Rows, select: Select, tunes: bool) -> Iterator[tuple[str, float, int, float]]:
    """What the run is scored by, or what it tunes by, as a metric of one value."""
    metric = select.tuning_metric if tunes else select.metric
    values = [v for v, step in zip(rows[metric], rows["round"], strict=True) if step > 0]
    if values and rows["status"][-1] != "diverged":
        score = float(scores.score_values(values, select.statistic, scores.goal(metric, select), select.last))
        if math.isfinite(score):
            yield "tuning_score" if tunes else "score", score, 0, rows["seconds"][-1]  # at step 0, charts compare bars


def chosen(about: ExperimentRecord, table: pd.DataFrame) -> Chosen:
    """Which runs were chosen, according to an experiment's table."""
    winners = set()
    for row in table[table["chosen"]].to_dict("records"):
        there = {axis: row[axis] for axis in (*about.axes, *about.tune) if axis in row}  # missing where it is not tuned
        values = {axis: axis_values.parse(cell) for axis, cell in there.items() if not axis_values.is_missing(cell)}
        winners.add((row["algorithm"], _place(values)))
    return lambda id, values: (id, _place(values)) in winners


def _place(values: Mapping[str, Any]) -> frozenset[tuple[str, str]]:
    """Values of axes and tuned hyper-parameters by their texts, which are alike for equal values."""
    return frozenset((axis, axis_values.text(value)) for axis, value in values.items())


def colours(about: ExperimentRecord) -> dict[str, str]:
    """The colours of an experiment's algorithms in its figures, by id."""
    algorithms = about.content["algorithms"]
    looks = styles({id: algorithms.get(id, {}).get("algorithm") or id for id in about.algorithms})
    return {id: look.colour for id, look in looks.items()}


def _versions(meta: RunMeta) -> str:
    """Packages that computed a run file, and on which device: ``fedatlas 0.1.0, numpy 2.4.6, device cpu``."""
    return ", ".join(f"{name} {version}" for name, version in sorted({**meta.machine, **meta.versions}.items()))


def parameter(axis: str) -> str:
    """The name of the parameter in MLflow that holds a run's value on an axis."""
    return axis.removeprefix("parameters.")


def common_tags(about: ExperimentRecord) -> dict[str, str]:
    """Tags of all runs of an experiment: its own, who logs them and where, and the project's commit if it has one."""
    tags = {**about.tags, "host": platform.node()}
    with contextlib.suppress(OSError, KeyError):  # there may be no name for a user in a container
        tags["mlflow.user"] = getpass.getuser()
    command = ["git", "-C", str(Path(about.file).parent), "rev-parse", "HEAD"]
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        commit = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True).stdout.strip()
        tags |= {"commit": commit, "mlflow.source.git.commit": commit}
    return tags
