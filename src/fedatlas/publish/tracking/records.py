"""What MLflow shows of an experiment: the runs of its settings and of their scoring seeds, and the report run."""

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import yaml

from fedatlas.experiments import labels, scores
from fedatlas.experiments.cells import CASE
from fedatlas.experiments.values import cell_text, is_missing, parse_cell
from fedatlas.experiments.view import TableMeta, merge
from fedatlas.io.formats import escape_markdown
from fedatlas.publish.report.facts import Facts, read_verdicts
from fedatlas.registry.options import native
from fedatlas.results.claims.verdicts import NOT_TESTED
from fedatlas.results.comparing.intervals import interval_of_mean
from fedatlas.results.figures.description import styles

if TYPE_CHECKING:
    import pandas as pd

COSTS = ("gradients", "vectors_up", "bits_up", "bits_down", "seconds")  # of which the last value is logged
POINTS = 32  # of a curve: MLflow needs a quarter of a kilobyte for each, and its charts are no larger
MAX_SEED_RUNS = 200  # of an experiment
NOTE, COLOUR = "mlflow.note.content", "mlflow.runColor"
FILES = ("report.html", "table.csv", "claims.csv", "figures/*.png", "tables/*.html")

Point = tuple[str, float, int]  # of a metric: name, value, step
Row = Mapping[str, Any]  # of the table


class RunRecord(NamedTuple):
    """A run as MLflow is to show it.

    key: identity, of size, algorithm, point of the axes, and seed. start, end: milliseconds since 1970. files: content
    of artifacts by path. data: provenance of data sets by name. children: runs beneath this one.
    """

    key: str
    name: str
    tags: Mapping[str, str]
    params: Mapping[str, str]
    metrics: Sequence[Point]
    start: int
    end: int
    files: Mapping[str, bytes] = {}
    data: Mapping[str, Mapping[str, Any]] = {}
    children: Sequence["RunRecord"] = ()

    def digest(self) -> str:
        """Return a hash of all but times, which change without a result changing."""
        points = sorted(point for point in self.metrics if point[0] != "seconds")
        files = {path: hashlib.sha256(content).hexdigest() for path, content in self.files.items()}
        parts = [self.key, self.name, self.tags, self.params, points, files, self.data]
        text = json.dumps([*parts, *(child.digest() for child in self.children)], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:32]


def setting_runs(
    facts: Facts, table: "pd.DataFrame", curves: "pd.DataFrame", meta: TableMeta, end: int
) -> Iterator[RunRecord]:
    """Yield the run of each algorithm and setting, with those of its scoring seeds where an experiment has few.

    Args:
        facts: The experiment's facts.
        table: The experiment's table.
        curves: Its curves.
        meta: Metadata of both.
        end: End of the runs, in milliseconds since 1970.
    """
    keys = ["algorithm", *facts["axes"]]
    groups = dict(list(curves.groupby(keys, sort=False, dropna=False)))
    axes = {**facts["content"]["grid"], **facts["content"]["within"]}
    few = len(facts["algorithms"]) * math.prod(map(len, axes.values())) * len(facts["seeds"]) <= MAX_SEED_RUNS
    entries = facts["content"]["algorithms"]
    looks = styles({id: entries.get(id, {}).get("algorithm") or id for id in facts["algorithms"]})
    for row in table[table["chosen"]].to_dict("records"):
        id, score, seeds, diverged = row["algorithm"], float(row["score"]), int(row["seeds"]), int(row["diverged"])
        point, rows = _values(facts["axes"], row), groups[tuple(row[key] for key in keys)]
        half = interval_of_mean(0.0, row["score_sd"], seeds)[1] if seeds > 1 else math.nan
        marks = {
            "algorithm": id,
            "phase": "setting",
            "interval": f"± {half:.2g}" if math.isfinite(half) else "one seed" if seeds < 2 else "none: a run diverged",
            "status": f"{diverged} of {seeds} diverged" if diverged else "ok",
            "fingerprint": meta.fingerprints[id],
            COLOUR: looks[id].colour,
        }
        names = scores.metric_columns(rows, [*facts["axes"], *facts["tune"]])
        names.sort(key=lambda name: name != facts["select"]["metric"])
        texts = json.dumps({axis: cell_text(value) for axis, value in point.items()})
        run = RunRecord(
            key=f"{facts['size']}/{id}/{hashlib.sha256(texts.encode()).hexdigest()[:16]}",
            name=_name(f"{facts['algorithms'][id]} {f'{score:.3g}' if math.isfinite(score) else 'diverged'}", point),
            tags={**facts["tags"], **marks},
            params=_params(facts, row),
            metrics=[*_curves(rows, names), ("score", score, 0)],
            start=end - math.ceil(1000 * seeds * row["seconds"]),
            end=end,
        )
        yield run._replace(children=list(_seed_runs(facts, run, row, rows)) if few else [])


def _name(first: str, point: Mapping[str, Any]) -> str:
    """Return a run's name: ``FedAc-I 0.00334 K=16 M=64``."""
    return " ".join([first, *(labels.point(axis, value).replace(" ", "") for axis, value in point.items())])


def _seed_runs(facts: Facts, parent: RunRecord, row: Row, curves: "pd.DataFrame") -> Iterator[RunRecord]:
    """Yield the runs on the scoring seeds beneath the run of their setting."""
    point = _values(facts["axes"], row)
    names = ["algorithm", *(axis.removeprefix("parameters.") for axis in (*point, *_values(facts["tune"], row)))]
    for seed, rows in curves.groupby("seed", sort=False):
        last = rows.iloc[-1]
        yield RunRecord(
            key=f"{parent.key}/{seed}",
            name=_name(facts["algorithms"][row["algorithm"]], {**point, "seed": seed}),
            tags={key: parent.tags[key] for key in ("algorithm", "size", "paper", COLOUR)}
            | {"phase": "seed", "status": last["status"]},
            params={name: parent.params[name] for name in names if name in parent.params} | {"seed": str(seed)},
            metrics=list(_curves(rows, [facts["select"]["metric"]])),
            start=parent.end - math.ceil(1000 * last["seconds"]),
            end=parent.end,
        )


def _curves(rows: "pd.DataFrame", names: Sequence[str]) -> Iterator[Point]:
    """Yield means over seeds at up to `POINTS` rounds that all have reached, the first metric's range, last costs."""
    costs, seeds = [name for name in COSTS if name in rows], rows["seed"].nunique()
    groups = rows.fillna(dict.fromkeys(names, math.inf)).groupby("round")
    curves = groups[[*names, *costs]].mean()
    if seeds > 1:
        curves[f"{names[0]}/min"], curves[f"{names[0]}/max"] = groups[names[0]].min(), groups[names[0]].max()
    for name, curve in curves[groups["seed"].nunique() == seeds].items():
        known = curve[np.isfinite(curve)]
        count = min(len(known), 1 if name in costs else POINTS)
        places = np.linspace(len(known) - 1, 0, count).round().astype(int)[::-1]
        yield from ((str(name), value, int(step)) for step, value in known.iloc[places].items())


def _values(names: Sequence[str], row: Row) -> dict[str, Any]:
    """Return those of some axes or tuned hyper-parameters that have a value in a row."""
    cells = {name: row[name] for name in names if name in row and not is_missing(row[name])}
    return {name: parse_cell(native(cell)) for name, cell in cells.items()}


def _params(facts: Facts, row: Row) -> dict[str, str]:
    """Return the hyper-parameters, setting, problem and values of axes that the experiment's file gives, as text."""
    content, id, point = facts["content"], row["algorithm"], _values(facts["axes"], row)
    entry, case = content["algorithms"][id], content["cases"].get(point.get(CASE), {})
    setting = merge({**content["setting"], **entry["setting"]}, case.get("setting", {}))
    problem = merge(content["problem"], case.get("problem", {}))
    params = {**setting, **entry["set"], "algorithm": entry["algorithm"] or id}
    params |= {"rounds": int(row["rounds"]), "seeds": int(row["seeds"])}
    params |= {f"problem.{key}": value for key, value in problem.items()}
    chosen = {**_values(facts["tune"], row), **point}
    params |= {axis.removeprefix("parameters."): value for axis, value in chosen.items()}
    return {key: cell_text(value) for key, value in params.items() if value is not None}


def report_run(facts: Facts, meta: TableMeta, end: int, folder: Path) -> RunRecord:
    """Return the run with report, figures, tables and verdicts, whose duration is the training time of all runs.

    Args:
        facts: The experiment's facts.
        meta: Metadata of its table.
        end: End of the other runs, in milliseconds since 1970; this one begins afterwards, so lists show it first.
        folder: Folder of the results, of which those that exist are taken.
    """
    claims = read_verdicts(folder / "claims.csv") if (folder / "claims.csv").exists() else []
    note = [f"- **{row['verdict']}**: {escape_markdown(row['text'])}" for row in claims if row["verdict"] != NOT_TESTED]
    counts = {f"claims/{verdict}": n for verdict, n in Counter(claim["verdict"] for claim in claims).items()}
    counts |= {"runs": meta.runs, "diverged runs": meta.diverged_runs}
    files = {str(path.relative_to(folder)): path.read_bytes() for name in FILES for path in sorted(folder.glob(name))}
    files["experiment.yaml"] = yaml.safe_dump(facts["content"], sort_keys=False, allow_unicode=True).encode()
    return RunRecord(
        key=f"{facts['size']}//report",  # no id of an algorithm is empty
        name=f"Report, figures and claims · {facts['size']}",
        tags={**facts["tags"], "phase": "report", NOTE: "\n".join(note)},
        params={},
        metrics=[(name, float(value), 0) for name, value in counts.items()],
        start=end + 1,
        end=end + 1 + math.ceil(1000 * meta.seconds),
        files=files,
        data=meta.data,
    )
