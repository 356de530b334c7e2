"""Setting runs: a run for each algorithm and setting with its chosen values, and beneath it one for each scoring seed.

Metrics of a setting run are means over its scoring seeds by round. Of the scored metric, ``NAME/min`` and ``NAME/max``
are the smallest and the largest values. What tuning compared is a table among its artifacts.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fedatlas.experiments import axis_values, labels, scores
from fedatlas.experiments.cells import Run, format_value
from fedatlas.experiments.metadata import Environment, RunMeta, versions
from fedatlas.experiments.result_files import read_meta
from fedatlas.experiments.runs import runs
from fedatlas.experiments.selection import select_rows
from fedatlas.experiments.tables import Tables
from fedatlas.federation.engine.setting import Setting
from fedatlas.publish.report.facts import PROBLEM_CONSTANT, ExperimentFacts, field_defaults
from fedatlas.publish.tracking import extras
from fedatlas.publish.tracking.run_record import (
    COLOUR,
    MAX_NAME,
    MAX_PARAM,
    NOTE,
    SYSTEM,
    RunRecord,
    clean_tags,
    clean_text,
    setting_key,
)
from fedatlas.registry.validation import native
from fedatlas.results.comparing.intervals import interval_of_mean
from fedatlas.results.figures.style import styles

if TYPE_CHECKING:
    import pandas as pd

COSTS = ["gradients", "vectors_up", "bits_up", "bits_down", "seconds"]
POINTS = 32  # of a curve: MLflow needs a quarter of a kilobyte for each, and its charts are no larger
SYMBOLS = {"clients": "M", "local_steps": "K"}
MAX_CHILDREN = 200  # of an experiment that does not say whether its seeds have runs
Point = tuple[str, ...]  # texts of an algorithm's id and of values of axes


@dataclass
class _Cell:
    """What the run file of a setting says about it.

    Attributes:
        path: Path of the run file.
        meta: Its metadata.
        runs: Runs on scoring seeds with the chosen values, by seed.
        environments: Environments that computed them.
    """

    path: Path
    meta: RunMeta
    runs: dict[int, Run] = field(default_factory=dict)
    environments: list[Environment] = field(default_factory=list)


def build_setting_runs(
    facts: ExperimentFacts, tables: Tables, files: Sequence[Path], tags: Mapping[str, str]
) -> Iterator[RunRecord]:
    """Yield the run of each algorithm and setting, in the order in which a list shows them.

    Args:
        facts: The experiment's facts.
        tables: Table, curves and trials made from the files.
        files: Paths of run files, in folders named by the ids of algorithms.
        tags: Tags of all runs.
    """
    cells = _cells(facts, files)
    keys = ["algorithm", *facts.axes]
    metrics = scores.metric_columns(tables.curves, [*facts.axes, *facts.tune])
    curves, trials = _groups(tables.curves, keys), _groups(tables.trials, keys)
    palette, has_children = _colours(facts), has_seed_runs(facts)
    for position, row in _sorted_rows(facts, tables.table[tables.table["chosen"]]):
        point = _point(row, keys)
        cell, id = cells[point], row["algorithm"]
        extra = {"algorithm": id, COLOUR: palette[id], "fingerprint": cell.meta.fingerprint}
        run = _setting_run(facts, row, curves[point], metrics, cell, {**tags, **extra})
        run.place = position
        if id in facts.tuned:
            run.files["tuning.csv"] = _tuning_table(trials[point], facts.tune)
        if has_children:
            run.children = _seed_runs(facts, run, curves[point], cell)
        yield run


def has_seed_runs(facts: ExperimentFacts) -> bool:
    """Return whether the scoring seeds of an experiment have runs of their own."""
    asked = facts.content["mlflow"]["seeds"]
    axes = {**facts.content["grid"], **facts.content["within"]}
    count = len(facts.algorithms) * math.prod(map(len, axes.values())) * len(facts.seeds)
    return count <= MAX_CHILDREN if asked is None else asked


def sent(facts: ExperimentFacts) -> str:
    """Return the cost of what clients send: bits where an algorithm codes messages or a channel does, or vectors."""
    content = facts.content
    options = [content["setting"], *facts.defaults.values(), *(dict.fromkeys(axis.split(".")) for axis in facts.axes)]
    for algorithm in content["algorithms"].values():
        options += [algorithm.get("setting") or {}, algorithm.get("set") or {}]
    coded = any(name in option for option in options for name in ("channel", "compressor"))
    return "bits_up" if coded else "vectors_up"


def _cells(facts: ExperimentFacts, files: Sequence[Path]) -> dict[Point, _Cell]:
    """Return what run files say about the settings that they hold."""
    cells: dict[Point, _Cell] = {}
    for path in files:
        meta = RunMeta.of(read_meta(path))
        grid = {axis: meta.spec.axis_value(axis) for axis in facts.grid}
        for run, number in zip(runs(meta.spec, meta.searches), meta.computed, strict=True):
            if run.seed in meta.spec.seeds:
                point = _point({"algorithm": path.parent.name, **grid, **run.within}, ["algorithm", *facts.axes])
                cell = cells.setdefault(point, _Cell(path, meta))
                cell.runs[run.seed] = run
                cell.environments.append(meta.environments[number])
    return cells


def _point(row: Mapping[str, Any], keys: Sequence[str]) -> Point:
    """Return values as texts, which are alike for equal values."""
    return tuple(axis_values.text(axis_values.parse(native(row[key]))) for key in keys)


def _groups(frame: pd.DataFrame, keys: list[str]) -> dict[Point, pd.DataFrame]:
    """Return the rows of each setting."""
    groups = frame.groupby(keys, sort=False, dropna=False)
    return {_point(dict(zip(keys, values, strict=True)), keys): group for values, group in groups}


def _sorted_rows(facts: ExperimentFacts, chosen: pd.DataFrame) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield place and row of each setting.

    The settings of the first figure come first, and of these the last ones of the axes; within a setting, the best
    score comes first.
    """
    figure: dict[str, Any] = next(iter(facts.content["figures"].values()), {})
    where = {axis: value for axis, value in (figure.get("where") or {}).items() if axis in chosen}
    drawn = select_rows(chosen, where)
    drawn = drawn[drawn["algorithm"].isin(figure.get("algorithms") or list(facts.algorithms))]
    points = list(map(tuple, chosen[facts.axes].to_numpy(object)))
    numbers = {point: number for number, point in enumerate(dict.fromkeys(points))}
    frame = chosen.assign(
        drawn=chosen.index.isin(drawn.index),
        number=[numbers[point] for point in points],
        loss=chosen["score"].fillna(math.inf) * (1 if facts.select.goal == "min" else -1),
    )
    frame = frame.sort_values(["drawn", "number", "loss"], ascending=[False, False, True], kind="stable")
    for position, row in enumerate(frame.to_dict("records")):
        yield f"{position:06d}", row


def _setting_run(
    facts: ExperimentFacts,
    row: Mapping[str, Any],
    curves: pd.DataFrame,
    metrics: list[str],
    cell: _Cell,
    tags: Mapping[str, str],
) -> RunRecord:
    """Return the run of an algorithm and setting, without its place, tuning and children."""
    id, seeds, diverged = row["algorithm"], int(row["seeds"]), int(row["diverged"])
    run = next(iter(cell.runs.values()))
    point = _values(facts, cell, run)
    instance = {key: value for key, value in cell.meta.spec.problem.items() if key == "instance"}  # of all seeds
    params = _params(run, {**run.problem, **instance}, facts.defaults[id], point) | {"seeds": str(seeds)}
    lossy = [name for name, source in cell.meta.data.items() if source.get("lossy")]
    interval = _interval_words(row)
    details = {
        "phase": "setting",
        "interval": interval,
        "status": f"{diverged} of {seeds} diverged" if diverged else "ok",
    }
    details["versions"] = ", ".join(
        f"{name} {version}" for name, version in sorted(versions(cell.environments).items())
    )
    details |= {"lossy data": ", ".join(lossy)} if lossy else {}
    chosen = "; ".join(f"{name} = {labels.text(value)}" for name, value in run.tune.items())
    details[NOTE] = f"Mean over {seeds} seed{'s' if seeds > 1 else ''}: {facts.score} {labels.number(row['score'])} "
    details[NOTE] += f"({interval})." + (f" With {chosen}." if chosen else "")
    score = f"{row['score']:.3g}" if math.isfinite(row["score"]) else "diverged"
    end = int(cell.path.stat().st_mtime * 1000)
    main = facts.select.metric
    columns = [main, *(name for name in metrics if name != main), "gradients", sent(facts)]
    return RunRecord(
        key=setting_key(facts.size, id, point),
        name=clean_text(run_name(f"{facts.algorithms[id]} {score}", point), MAX_NAME),
        tags=clean_tags({**tags, **details}),
        params=params,
        metrics=[
            *_curves(curves, columns, COSTS),
            ("score", float(row["score"]), 0, 0.0),
        ],  # at step 0, charts have bars
        start=end - math.ceil(1000 * seeds * row["seconds"]),
        end=end,
    )


def _seed_runs(facts: ExperimentFacts, parent: RunRecord, curves: pd.DataFrame, cell: _Cell) -> list[RunRecord]:
    """Return the runs on the scoring seeds beneath the run of their setting."""
    id, shared = parent.tags["algorithm"], ("algorithm", "size", "paper", COLOUR)
    stored, select, children = extras.load(cell.path), facts.select, []
    for seed, rows in curves.groupby("seed", sort=False):
        run, last = cell.runs[seed], rows.iloc[-1]
        tags = {key: parent.tags[key] for key in shared} | {"phase": "seed", "status": last["status"]}
        values = rows.loc[rows["round"] > 0, select.metric].tolist()
        score = math.nan
        if last["status"] == "diverged":
            tags["diverged_round"] = str(last["diverged_round"])
        else:
            score = scores.score_values(values, select.statistic, select.goal, select.last)
        extra = stored.get(run.key, extras.Extra())
        usage = [
            (f"{SYSTEM}{name}", float(value), number, second)
            for number, (second, values) in enumerate(extra.usage)
            for name, value in values.items()
        ]
        point = _values(facts, cell, run)
        names = filter(parent.params.__contains__, map(parameter_name, [*point, *run.tune]))
        children.append(
            RunRecord(
                key=f"{parent.key}/{seed}",
                name=clean_text(run_name(facts.algorithms[id], {**point, "seed": seed}), MAX_NAME),
                tags=tags,
                params={name: parent.params[name] for name in ("algorithm", *names)} | {"seed": str(seed)},
                metrics=[*_curves(rows, [select.metric]), ("score", float(score), 0, last["seconds"]), *usage],
                files={**extras.model_files(run, extra, cell.meta.data)},
                start=parent.end - math.ceil(1000 * last["seconds"]),
                end=parent.end,
            )
        )
    return children


def _curves(rows: pd.DataFrame, curves: list[str], last: Iterable[str] = ()) -> Iterator[tuple[str, float, int, float]]:
    """Yield means over seeds at up to `POINTS` rounds; of the first, with several seeds, also the smallest and largest.

    A round counts where all seeds have a value.

    Args:
        rows: Evaluations on one or more seeds.
        curves: Columns that are given by round.
        last: Columns of which the last value is given; those that are not there are left out.
    """
    seeds, rounds = rows["seed"].to_numpy(), rows["round"].to_numpy()
    places = [np.flatnonzero(seeds == seed) for seed in dict.fromkeys(seeds.tolist())]
    common = functools.reduce(np.intersect1d, [rounds[part] for part in places])
    index = np.array([part[np.searchsorted(rounds[part], common)] for part in places])  # (seeds, rounds)
    seconds = rows["seconds"].to_numpy()[index].mean(axis=0)
    for name in (*curves, *(name for name in last if name in rows and name not in curves)):
        values = rows[name].to_numpy()[index]
        defined = np.flatnonzero(~np.isnan(values).any(axis=0))
        points = min(len(defined), POINTS if name in curves else 1)
        sample = defined[np.linspace(len(defined) - 1, 0, points).round().astype(int)[::-1]]  # with the last one
        values = values[:, sample]
        with np.errstate(invalid="ignore"):  # a mean of infinities of both signs
            results_by_suffix = {"": values.mean(axis=0)}
        if name == curves[0] and len(places) > 1:
            results_by_suffix |= {"/min": values.min(axis=0), "/max": values.max(axis=0)}
        for suffix, results in results_by_suffix.items():
            times = zip(results.tolist(), common[sample].tolist(), seconds[sample].tolist(), strict=True)
            yield from ((f"{name}{suffix}", value, step, second) for value, step, second in times)


def _tuning_table(trials: pd.DataFrame, tune: Sequence[str]) -> bytes:
    """Return what tuning compared as CSV: a row for each tuned value and tuning seed."""
    names = [name for name in tune if name in trials and not trials[name].isna().all()]
    return trials[[*names, "seed", "score", "diverged"]].to_csv(index=False).encode()


def _values(facts: ExperimentFacts, cell: _Cell, run: Run) -> dict[str, Any]:
    """Return the values of all axes."""
    return {axis: run.within[axis] if axis in run.within else cell.meta.spec.axis_value(axis) for axis in facts.axes}


def run_name(first: str, values: Mapping[str, Any]) -> str:
    """Return a run's name: ``FedAc-I 0.00334 K=16 M=64``."""
    parts = [first]
    for axis, value in values.items():
        word = format_value(value).replace(" ", "")
        parts.append(f"{SYMBOLS.get(axis, axis.split('.')[-1])}={word if len(word) <= 40 else word[:39] + '…'}")
    return " ".join(parts)


def parameter_name(axis: str) -> str:
    """Return the name of the parameter in MLflow that holds a run's value on an axis."""
    return axis.removeprefix("parameters.")


def _params(
    run: Run, problem: Mapping[str, Any], defaults: Mapping[str, Any], point: Mapping[str, Any]
) -> dict[str, str]:
    """Return hyper-parameters, setting, problem and values of axes as text.

    Args:
        run: A run of the setting.
        problem: Specification of the problem.
        defaults: Defaults of the algorithm's hyper-parameters.
        point: Values of the experiment's axes.
    """
    setting = Setting(**run.setting)
    params: dict[str, Any] = {parameter_name(axis): value for axis, value in point.items()}
    params |= {"algorithm": run.algorithm} | field_defaults(Setting) | run.setting
    params |= {"local_steps": setting.local_steps, "rounds": setting.total_rounds, "batch": setting.batch or "all"}
    parameters = {k: v for k, v in run.parameters.items() if v is not None or defaults.get(k) != PROBLEM_CONSTANT}
    params |= {**defaults, **parameters}
    params |= {f"problem.{key}": value for key, value in problem.items()}
    return {key: _text(value) for key, value in params.items() if value is not None}


def _text(value: Any) -> str:
    return clean_text(format_value(value) if isinstance(value, (dict, list)) else value, MAX_PARAM)


def _interval_words(row: Mapping[str, Any]) -> str:
    """Return Student's interval of a mean score in words."""
    mean, deviation, seeds = float(row["score"]), float(row["score_sd"]), int(row["seeds"])
    if seeds < 2:
        return "one seed"
    if not math.isfinite(mean) or not math.isfinite(deviation):
        return "none: a run diverged"
    low, high = interval_of_mean(np.float64(mean), np.float64(deviation), seeds)
    return f"± {(high - low) / 2:.2g}" if low < high else "equal on all seeds"


def _colours(facts: ExperimentFacts) -> dict[str, str]:
    """Return the colours of an experiment's algorithms in its figures, by id."""
    algorithms = facts.content["algorithms"]
    chosen = {id: entry["colour"] for id, entry in algorithms.items() if entry.get("colour")}
    line_styles = styles({id: algorithms.get(id, {}).get("algorithm") or id for id in facts.algorithms}, chosen)
    return {id: style.colour for id, style in line_styles.items()}
