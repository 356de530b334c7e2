"""The runs of a run file as MLflow stores them: with names, tags, parameters, metrics and artifacts."""

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
from fedatlas.experiments.metadata import Environment, RunMeta, versions
from fedatlas.experiments.result_files import read
from fedatlas.experiments.runs import runs
from fedatlas.federation.engine.setting import Setting
from fedatlas.publish.report.record import PROBLEM_CONSTANT, ExperimentRecord, field_defaults
from fedatlas.publish.tracking import extras
from fedatlas.results.figures.style import styles

if TYPE_CHECKING:
    import pandas as pd

COSTS = ("gradients", "vectors_up", "bits_up", "bits_down", "seconds")
LOGGER_TAGS = ("commit", "mlflow.source.git.commit", "mlflow.user", "host")  # of the person who logs, not of the run
SYSTEM = "system/"  # prefix of MLflow's names of system metrics
SYMBOLS = {"clients": "M", "local_steps": "K"}
MAX_PARAM, MAX_TAG, MAX_NAME = 6000, 8000, 250  # characters that MLflow stores of a value, and of a run's name

Columns = Mapping[str, list[Any]]  # columns of a run file
IsChosen = Callable[[str, Mapping[str, Any]], bool]  # whether a run of an algorithm's id and these values was chosen


@dataclass
class RunRecord:
    """A single run as MLflow stores it. The colour and the choice are not part of its content.

    Attributes:
        key: Identity: size, algorithm's id, cell and the run's key.
        setting: Key of the summary run of its algorithm and setting, beneath which it lies; None for a summary.
        name: Name for people.
        tags: Tags.
        params: Parameters.
        metrics: Rows (name, value, round, seconds into the run).
        data: Pairs (name, provenance) of data sets by role.
        files: Content of artifacts by path.
        start: Start, in milliseconds since 1970.
        end: End, in milliseconds since 1970.
        colour: Colour of the algorithm in the experiment's figures.
        chosen: "true" or "false" for a run on a scoring seed, once the experiment's table names the chosen values.
    """

    key: str
    setting: str | None
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

    def timed_metrics(self) -> list[tuple[str, float, int, int]]:
        """Return metrics as (name, value, milliseconds since 1970, round)."""
        return [(name, value, self.start + int(second * 1000), step) for name, value, step, second in self.metrics]

    @property
    def digest(self) -> str:
        """Hash of all but times and the person who logs, which change without a result changing."""
        results = [
            (name, value, step)
            for name, value, step, _ in self.metrics
            if name != "seconds" and not name.startswith(SYSTEM)
        ]
        tags = {key: value for key, value in self.tags.items() if key not in LOGGER_TAGS}
        files = {path: hashlib.sha256(content).hexdigest() for path, content in self.files.items()}
        parts = [self.name, tags, self.params, results, self.data, *([files] if files else [])]
        content = json.dumps(parts, sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()[:32]


def clean_text(value: Any, length: int) -> str:
    """Return a value as text that every database takes: no NUL, no halves of surrogate pairs, cut to a length."""
    return str(value).replace("\0", "\ufffd").encode("utf-8", "replace").decode()[:length]


def _key(*parts: str) -> str:
    """Return the identity of a run as text that fits a tag."""
    key = clean_text("/".join(parts), sys.maxsize)
    if len(key) <= MAX_TAG:
        return key
    *prefix, _ = parts
    return clean_text("/".join([*prefix, hashlib.sha256(key.encode()).hexdigest()]), MAX_TAG)


def setting_key(size: str, id: str, point: Mapping[str, Any]) -> str:
    """Return the key of the summary run of an algorithm's id at a point of the axes; no id of an algorithm is empty."""
    return _key(size, "", id, json.dumps(sorted(_point(point))))


def read_runs(
    record: ExperimentRecord, path: Path, tags: Mapping[str, str], is_chosen: IsChosen | None = None
) -> Iterator[RunRecord]:
    """Yield the runs in a run file.

    Args:
        record: The experiment's record.
        path: Path of the file, in a folder named by the algorithm's id.
        tags: Tags of all runs of the experiment.
        is_chosen: Predicate of chosen runs; None before there is a table.

    Raises:
        UserError: The file does not hold the runs of its specification.
    """
    frame, plain_meta = read(path)
    meta = RunMeta.of(plain_meta)
    id, spec = path.parent.name, meta.spec
    point = {axis: spec.axis_value(axis) for axis in record.grid}
    metrics = scores.metric_columns(frame, (*spec.within, *spec.tune))
    lossy = [name for name, source in meta.data.items() if source.get("lossy")]
    specs = list(runs(spec, meta.searches))
    colour, extras_by_key = colours(record)[id], extras.load(path)
    made = [_versions(environment) for environment in meta.environments]
    starts = np.flatnonzero(frame["round"] == 0)  # runs follow each other in the order of their specification
    if not len(specs) == len(starts) == len(meta.computed):
        raise UserError(f"{path} does not hold the runs of its specification; delete it and run again")
    end = int(path.stat().st_mtime * 1000)
    columns = {name: frame[name].tolist() for name in frame.columns}  # slices of frames would take most of the time
    for run, start, stop, number in zip(specs, starts, [*starts[1:], len(frame)], meta.computed, strict=True):
        rows = {name: values[start:stop] for name, values in columns.items()}
        values = {**point, **run.within, **run.tune}
        tunes = run.seed not in spec.seeds
        run_tags = {"algorithm": id, "fingerprint": meta.fingerprint, "status": rows["status"][-1]}
        run_tags |= {"versions": made[number], "phase": "tuning" if tunes else "scoring"}
        if run_tags["status"] == "diverged":
            run_tags["diverged_round"] = str(rows["diverged_round"][-1])
        if lossy:
            run_tags["lossy data"] = ", ".join(lossy)
        extra = extras_by_key.get(run.key, extras.Extra())
        yield RunRecord(
            key=_key(record.size, id, path.stem, run.key),
            setting=setting_key(record.size, id, {**point, **run.within}),
            name=clean_text(run_name(id, {**values, "seed": run.seed}), MAX_NAME),
            tags={key: clean_text(value, MAX_TAG) for key, value in {**tags, **run_tags}.items()},
            params=_params(run, record.defaults[id], {**point, **run.within}),
            metrics=[*_metrics(rows, (*metrics, *COSTS)), *_score(rows, record.select, tunes), *_system(extra)],
            data={
                role: (run.problem[key], meta.data[run.problem[key]])
                for role, key in (("training", "data"), ("test", "test"))
                if run.problem.get(key)
            },
            files={} if tunes else extras.model_files(run, extra, meta.data),
            start=end - math.ceil(rows["seconds"][-1] * 1000),
            end=end,
            colour=colour,
            chosen=None if is_chosen is None or tunes else str(is_chosen(id, values)).lower(),
        )


def run_name(first: str, values: Mapping[str, Any]) -> str:
    """Return a run's name: ``fedac-1 K=16 M=64 lr=0.1 seed=0``."""
    parts = [first]
    for axis, value in values.items():
        word = format_value(value).replace(" ", "")
        parts.append(f"{SYMBOLS.get(axis, axis.split('.')[-1])}={word if len(word) <= 40 else word[:39] + '…'}")
    return " ".join(parts)


def _params(run: Run, defaults: Mapping[str, Any], point: Mapping[str, Any]) -> dict[str, str]:
    """Return hyper-parameters, setting, problem and axis values of a run as text.

    Args:
        run: The run.
        defaults: Defaults of the algorithm's hyper-parameters.
        point: Values of the experiment's axes.
    """
    setting = Setting(**run.setting)
    params: dict[str, Any] = {"algorithm": run.algorithm, "seed": run.seed}
    params |= field_defaults(Setting) | run.setting
    params |= {"local_steps": setting.local_steps, "rounds": setting.total_rounds, "batch": setting.batch or "all"}
    parameters = {k: v for k, v in run.parameters.items() if v is not None or defaults.get(k) != PROBLEM_CONSTANT}
    params |= {**defaults, **parameters}
    params |= {f"problem.{key}": value for key, value in run.problem.items()}
    params = {parameter_name(axis): value for axis, value in point.items()} | params
    return {key: parameter_text(value) for key, value in params.items() if value is not None}


def parameter_text(value: Any) -> str:
    """Return the text of a parameter's value in MLflow."""
    return clean_text(format_value(value) if isinstance(value, (dict, list)) else value, MAX_PARAM)


def _metrics(rows: Columns, names: Iterable[str]) -> Iterator[tuple[str, float, int, float]]:
    for name in filter(rows.__contains__, names):  # files of older code have fewer costs
        for value, step, second in zip(rows[name], rows["round"], rows["seconds"], strict=True):
            if math.isfinite(value):  # MLflow stores infinity as 1.8e308, which no chart can show
                yield name, float(value), step, second


def _system(extra: extras.Extra) -> Iterator[tuple[str, float, int, float]]:
    """Yield samples of the machine as metrics, with the number of the sample instead of a round."""
    for number, (second, values) in enumerate(extra.usage):
        for name, value in values.items():
            yield f"{SYSTEM}{name}", float(value), number, second


def _score(rows: Columns, select: Select, tunes: bool) -> Iterator[tuple[str, float, int, float]]:
    """Yield the score of a run, or its tuning score, as a metric of one value."""
    metric = select.tuning_metric if tunes else select.metric
    values = [v for v, step in zip(rows[metric], rows["round"], strict=True) if step > 0]
    if values and rows["status"][-1] != "diverged":
        score = float(scores.score_values(values, select.statistic, scores.goal(metric, select), select.last))
        if math.isfinite(score):
            yield "tuning_score" if tunes else "score", score, 0, rows["seconds"][-1]  # at step 0, charts compare bars


def chosen_predicate(record: ExperimentRecord, table: pd.DataFrame) -> IsChosen:
    """Return the predicate of runs that were chosen, according to an experiment's table."""
    winners = set()
    for row in table[table["chosen"]].to_dict("records"):
        cells = {axis: row[axis] for axis in (*record.axes, *record.tune) if axis in row}
        # an algorithm that does not tune a hyper-parameter has a missing cell
        values = {axis: axis_values.parse(cell) for axis, cell in cells.items() if not axis_values.is_missing(cell)}
        winners.add((row["algorithm"], _point(values)))
    return lambda id, values: (id, _point(values)) in winners


def _point(values: Mapping[str, Any]) -> frozenset[tuple[str, str]]:
    """Return values of axes and tuned hyper-parameters by their texts, which are alike for equal values."""
    return frozenset((axis, axis_values.text(value)) for axis, value in values.items())


def colours(record: ExperimentRecord) -> dict[str, str]:
    """Return the colours of an experiment's algorithms in its figures, by id."""
    algorithms = record.content["algorithms"]
    chosen = {id: entry["colour"] for id, entry in algorithms.items() if entry.get("colour")}
    line_styles = styles({id: algorithms.get(id, {}).get("algorithm") or id for id in record.algorithms}, chosen)
    return {id: style.colour for id, style in line_styles.items()}


def _versions(environment: Environment) -> str:
    """Return the packages and the device that computed a run: ``device cpu, fedatlas 0.1.0, numba 0.68.1``."""
    return ", ".join(f"{name} {version}" for name, version in sorted(versions([environment]).items()))


def parameter_name(axis: str) -> str:
    """Return the name of the parameter in MLflow that holds a run's value on an axis."""
    return axis.removeprefix("parameters.")


def paper_tags(record: ExperimentRecord) -> dict[str, str]:
    """Return tags in words of the paper and of the place in it: ``FedAc``, ``NeurIPS 2020``, ``Figure 1``."""
    return {"paper": record.paper.short, "venue": record.paper.meeting, "source": record.source}


def verdict_tags(record: ExperimentRecord, held: str) -> dict[str, str]:
    """Return tags in words of what is said: the headlines that rest on the experiment, and its claims at this size.

    Args:
        record: The experiment's record.
        held: Number of claims that held in words.
    """
    cards = [f"{card['title']}: {card['words']}" for card in record.cards]
    return {key: text for key, text in (("headline", "; ".join(cards)), ("claims", held)) if text}


def common_tags(record: ExperimentRecord) -> dict[str, str]:
    """Return tags of all runs: the experiment's, user, host, and the project's commit if it has one."""
    tags = {**record.tags, **paper_tags(record), "host": platform.node()}
    with contextlib.suppress(OSError, KeyError):  # in a container the user may have no name
        tags["mlflow.user"] = getpass.getuser()
    command = ["git", "-C", str(Path(record.file).parent), "rev-parse", "HEAD"]
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        commit = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True).stdout.strip()
        tags |= {"commit": commit, "mlflow.source.git.commit": commit}
    return tags
