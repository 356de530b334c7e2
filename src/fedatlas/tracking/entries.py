"""What is logged: run files as single runs with names, tags, parameters and metrics; tables and claims as a summary."""

import contextlib
import dataclasses
import hashlib
import json
import math
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fedatlas.errors import UserError
from fedatlas.experiments.expand import create, runs
from fedatlas.experiments.result_files import plain, read
from fedatlas.experiments.run import run_key
from fedatlas.experiments.tables import label, metric_columns

COSTS = ("gradients", "vectors_up", "seconds")
SYMBOLS = {"clients": "M", "local_steps": "K"}
MOST_WARNINGS = 20
MOST_SCORES = 24  # a parent run with more metrics can no longer be read; its table can


@dataclass
class Entry:
    """A single run.

    metrics: (name, value, round, seconds into the run). data: role -> (name, provenance). chosen: "true" or "false"
    once the experiment's table says which tuned values won; no part of the run's content.
    """

    key: str
    name: str
    tags: dict
    params: dict
    metrics: list
    data: dict
    start: int
    end: int
    chosen: str | None = None

    def points(self):
        """Metrics as (name, value, milliseconds since 1970, round)."""
        return [(name, value, self.start + int(second * 1000), step) for name, value, step, second in self.metrics]

    @property
    def digest(self):
        """Hash of all but times and the commit, which change without a result changing."""
        results = [(name, value, step) for name, value, step, _ in self.metrics if name != "seconds"]
        tags = {key: value for key, value in self.tags.items() if "commit" not in key}
        content = json.dumps([self.name, tags, self.params, results, self.data], sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()[:32]


def read_runs(experiment, cell, path, tags, chosen=None):
    """The runs in a cell's file, as Entry.

    tags: of all runs of the experiment. chosen: function of an algorithm id and a run's values, whether it was chosen;
    None as long as nobody knows.
    """
    frame, meta = read(path)
    spec = meta["spec"]
    metrics = metric_columns(frame, (*spec["within"], *spec["tune"]))
    lossy = [name for name, about in meta.get("data", {}).items() if about.get("lossy")]
    wanted = list(runs(spec))
    starts = np.flatnonzero(frame["round"] == 0)  # runs follow each other in the order of their specification
    if len(wanted) != len(starts):
        raise UserError(f"{path} does not hold the runs of its specification; delete it and run again")
    end = int(path.stat().st_mtime * 1000)
    columns = {name: frame[name].tolist() for name in frame.columns}  # slices of frames take longer than all the rest
    for run, start, stop in zip(wanted, starts, [*starts[1:], len(frame)], strict=True):
        rows = {name: values[start:stop] for name, values in columns.items()}
        last = {name: values[-1:] for name, values in rows.items()}  # of costs, which grow evenly, the totals will do
        values = {**cell.point, **run["within"], **run["tune"]}
        about = {"algorithm": cell.id, "fingerprint": meta["fingerprint"], "status": rows["status"][-1]}
        if about["status"] == "diverged":
            about["diverged_round"] = str(rows["diverged_round"][-1])
        if lossy:
            about["lossy data"] = ", ".join(lossy)
        yield Entry(
            key=f"{experiment['size']}/{cell.id}/{cell.key}/{run_key(run)}",
            name=run_name(cell.id, {**values, "seed": run["seed"]}),
            tags=tags | about,
            params=_params(run),
            metrics=[*_metrics(rows, metrics), *_metrics(last, COSTS), *_score(rows, experiment["select"])],
            data={
                role: (run["problem"][key], meta["data"][run["problem"][key]])
                for role, key in (("training", "data"), ("test", "test"))
                if run["problem"].get(key)
            },
            start=end - int(rows["seconds"][-1] * 1000),
            end=end,
            chosen=None if chosen is None else str(chosen(cell.id, values)).lower(),
        )


def run_name(id, values):
    """A run's name: ``fedac-1 K=16 M=64 lr=0.1 seed=0``."""
    parts = [id]
    for axis, value in values.items():
        text = label(plain(value)).replace(" ", "")
        parts.append(f"{SYMBOLS.get(axis, axis.split('.')[-1])}={text if len(text) <= 40 else text[:39] + '…'}")
    return " ".join(parts)


def _params(run):
    """Hyper-parameters, setting and problem of a run, defaults included, as text."""
    algorithm, setting = create(run)
    found = {"algorithm": run["algorithm"], "seed": run["seed"]}
    found |= {f.name: getattr(setting, f.name) for f in dataclasses.fields(setting)}
    found |= {"rounds": setting.total_rounds, "batch": setting.batch or "all"}
    for name, field in algorithm.options().items():
        value = getattr(algorithm, name)
        found[name] = "the problem's" if value is None and field.constant else value
    found |= {f"problem.{key}": value for key, value in run["problem"].items()}
    return {key: label(v) if isinstance(v, (dict, list)) else str(v) for key, v in found.items() if v is not None}


def _metrics(rows, names):
    for name in names:
        for value, step, second in zip(rows[name], rows["round"], rows["seconds"], strict=True):
            if math.isfinite(value):  # MLflow would make 1.8e308 of infinity, which no chart survives
                yield name, float(value), step, second


def _score(rows, select):
    """What the experiment chooses by, as a metric of one value."""
    values = [v for v, step in zip(rows[select["metric"]], rows["round"], strict=True) if step > 0]
    if values and rows["status"][-1] != "diverged":
        best = {"min": min, "max": max}[select["goal"]]
        score = values[-1] if select["statistic"] == "final" else best((v for v in values if v == v), default=math.nan)
        yield "score", float(score), 0, rows["seconds"][-1]  # at step 0, charts compare bars


def _place(meta, id, values):
    """A row of an experiment's table by what identifies it; an algorithm has NaN for what it does not tune."""
    found = (values.get(axis) for axis in (*meta["axes"], *meta["tune"]))
    return (id, *(None if value is None or value != value else plain(value) for value in found))


def chosen(frame, meta):
    """Of an experiment's table and its metadata, the function that read_runs takes."""
    winners = {_place(meta, row["algorithm"], row) for row in frame[frame["chosen"]].to_dict("records")}
    return lambda id, values: _place(meta, id, values) in winners


def common_tags(experiment):
    """Tags of all runs of an experiment at a size."""
    problem = experiment["problem"]
    tags = {"paper": experiment["paper"], "size": experiment["size"], "problem": problem["kind"]}
    tags["data"] = problem.get("data", "synthetic")
    tags |= {"mlflow.source.name": experiment["file"], "mlflow.source.type": "LOCAL"}
    command = ["git", "-C", str(Path(experiment["file"]).parent), "rev-parse", "HEAD"]
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        commit = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True).stdout.strip()
        tags |= {"commit": commit, "mlflow.source.git.commit": commit}
    return tags


@dataclass
class Summary:
    """What a parent run shows. artifacts: place -> path of a file."""

    note: str
    metrics: dict
    artifacts: dict
    experiment: dict


def summary(experiment, directory, table=None):
    """The Summary of an experiment from its table, claims and figures, as far as they are there."""
    import pandas as pd

    files = [directory / name for name in ("table.csv", "table.parquet", "claims.csv")]
    files += sorted(path for path in directory.glob("figures/*") if path.suffix in (".svg", ".png"))
    artifacts = {str(path.relative_to(directory)): path for path in files if path.exists()}
    metrics, note = {}, []
    if "claims.csv" in artifacts:
        claims = pd.read_csv(artifacts["claims.csv"])
        metrics |= {f"claims/{verdict}": count for verdict, count in claims["verdict"].value_counts().items()}
        note += [f"- **{verdict}**: {text}" for verdict, text in zip(claims["verdict"], claims["text"], strict=True)]
    if table:
        frame, meta = table
        metrics |= {"runs": meta["runs"], "diverged runs": meta["diverged_runs"]}
        chosen = frame[frame["chosen"]].to_dict("records")
        for row in chosen if len(chosen) <= MOST_SCORES else ():
            metrics[f"score/{run_name(row['algorithm'], {axis: row[axis] for axis in meta['axes']})}"] = row["score"]
        note += [f"- Warning: {warning}" for warning in meta["warnings"][:MOST_WARNINGS]]
        note += [f"- {more} more warnings"] if (more := len(meta["warnings"]) - MOST_WARNINGS) > 0 else []
    metrics = {_metric_name(key): float(value) for key, value in metrics.items() if math.isfinite(value)}
    return Summary("\n".join(note), metrics, artifacts, experiment)


def _metric_name(text):
    """Only with what MLflow allows in the name of a metric."""
    return re.sub(r"[^\w\-. :/]+", " ", text.replace("=", ":")).strip()
