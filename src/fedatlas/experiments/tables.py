"""From run files to the table of an experiment: scores, tuned choices, warnings, and the curves of what was chosen."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fedatlas.experiments import scores
from fedatlas.experiments.cells import RUNG, CellSpec, Select
from fedatlas.experiments.result_files import read, read_meta
from fedatlas.experiments.runs import RunMeta, distinct
from fedatlas.experiments.scores import COSTS
from fedatlas.experiments.tuning import TUNING_RULES
from fedatlas.experiments.values import TableCell, column_cells, parse_cell
from fedatlas.experiments.view import TableMeta
from fedatlas.federation.metrics import metric as record

if TYPE_CHECKING:
    import pandas as pd

Columns = dict[str, Callable[[Any], TableCell]]  # from a value to its cell of the table, by axis


class Tables(NamedTuple):
    """Table, curves and trials of an experiment, and the table's metadata."""

    table: "pd.DataFrame"
    curves: "pd.DataFrame"
    trials: "pd.DataFrame"
    meta: TableMeta


def build(grid: Sequence[str], select: Select, files: Sequence[Path]) -> Tables:
    """Build the table, curves and trials of an experiment from all its run files, in the order of its cells.

    grid: names of its axes of grid. select: how it scores runs.

    Table: a row for each algorithm, point of the axes and tuned values. ``tuning_score``, ``tuning_seeds`` and
    ``tuning_diverged`` are the median score over the tuning seeds, their number, and how many runs diverged on them,
    where there was a choice. ``chosen`` marks the values that won. ``edge`` says where a winner lies at an end of its
    axis, ``confirmation`` whether fresh seeds confirmed it. Everything else is about the scoring seeds, and so about
    chosen values: ``score`` with deviation and range, ``seeds``, ``diverged``, and means of ``best_`` and ``final_``
    metrics and of costs.

    Curves: all evaluations of the chosen on the scoring seeds. Trials: ``score`` and ``diverged`` of every run on which
    tuned values are compared, by seed; where there was no choice, of every run.
    """
    import pandas as pd

    summaries, curves, trials, ends, metas = [], [], [], [], []
    heads = [RunMeta.from_dict(read_meta(path)) for path in files]
    columns = _columns(grid, heads)
    axes = [*grid, *heads[0].spec.within]
    parts = ((path.parent.name, _read(path, head.spec, columns), head) for path, head in zip(files, heads, strict=True))
    for (id, _), group in itertools.groupby(parts, key=lambda part: (part[0], _point(grid, part[2], columns))):
        frame, meta = _joined(list(group), columns)
        metas.append((id, meta))
        frame.insert(0, "algorithm", id)
        for axis, cell in _point(grid, meta, columns):
            frame.insert(1, axis, cell)
        tune = sorted(meta.spec.tune)
        keys = ["algorithm", *axes, *tune]
        of_runs = [*keys, "seed", *([RUNG] if RUNG in frame else [])]
        ends.append(frame.groupby(of_runs, sort=False, dropna=False)[["seconds", "status"]].last())
        table = frame[keys].drop_duplicates(ignore_index=True)
        if RUNG in frame:  # a value is compared by its longest runs
            last = frame.groupby(keys, sort=False, dropna=False)[RUNG].transform("max")
            frame = frame[(frame[RUNG] == 0) | (frame[RUNG] == last)].drop(columns=RUNG).reset_index(drop=True)
        tunes, scoring = (frame["seed"].isin(seeds) for seeds in (meta.spec.tuning_seeds, meta.spec.seeds))
        metric = select.tuning_metric
        compared = _ends(frame[tunes] if tunes.any() else frame, keys, metric, select)
        trials.append(compared)
        tuned = _tuned(compared[compared["seed"].isin(meta.spec.tuning_seeds)], keys, select)
        table = table.merge(tuned, on=keys, how="left")
        table = table.merge(_scored(frame[scoring], keys, select), on=keys, how="left")
        counts = ["tuning_seeds", "tuning_diverged", "seeds", "diverged"]
        table[counts] = table[counts].fillna(0).astype(int)
        table.insert(table.columns.get_loc("score"), "chosen", table["seeds"] > 0)
        for name in ("edge", "confirmation"):
            table.insert(table.columns.get_loc("score"), name, "")
        _add_outcomes(table, meta, columns, tune)
        summaries.append(table)
        curves.append(frame[scoring])
    table, all_curves, all_trials, ended = (
        pd.concat(frames, ignore_index=True) for frames in (summaries, curves, trials, ends)
    )
    of_table = TableMeta(
        environments=distinct(environment for _, meta in metas for environment in meta.environments),
        data={name: entry for _, meta in metas for name, entry in meta.data.items()},
        fingerprints={id: meta.fingerprint for id, meta in metas},
        runs=len(ended),
        diverged_runs=int((ended["status"] == "diverged").sum()),
        seconds=float(ended["seconds"].sum()),
        files=[path.relative_to(path.parents[2]).as_posix() for path in files],
        recorded=sum(head.recorded for head in heads),
        unverified=sum(head.unverified for head in heads),
    )
    return Tables(table, all_curves, all_trials, of_table)


def _columns(grid: Sequence[str], metas: Sequence[RunMeta]) -> Columns:
    """Return how values become cells, by axis: all files decide, as one may hold numbers and another formulas."""
    values: dict[str, list[Any]] = {}
    for meta in metas:
        in_file = {**{axis: [meta.spec.axis_value(axis)] for axis in grid}, **meta.spec.within, **meta.spec.tune}
        for axis, those in in_file.items():
            values.setdefault(axis, []).extend(those)
    return {axis: column_cells(those) for axis, those in values.items()}


def _read(path: Path, spec: CellSpec, columns: Columns) -> "pd.DataFrame":
    """Read a run file, with cells as in the table."""
    frame, _ = read(path)
    for axis in (*spec.within, *spec.tune):
        cells = {cell: columns[axis](parse_cell(cell)) for cell in frame[axis].unique().tolist()}
        if any(type(cell) is not type(other) for cell, other in cells.items()):
            frame[axis] = frame[axis].map(cells)
    return frame


def _point(grid: Sequence[str], meta: RunMeta, columns: Columns) -> list[tuple[str, TableCell]]:
    """Return the grid point of a run file: (axis, cell of the table)."""
    return [(axis, columns[axis](meta.spec.axis_value(axis))) for axis in grid]


def _joined(parts: list[tuple[str, Any, RunMeta]], columns: Columns) -> tuple[Any, RunMeta]:
    """Join the files that the runs of an algorithm at a grid point are spread over."""
    import pandas as pd

    _, frame, meta = parts[0]
    if len(parts) == 1:
        return frame, meta
    places = {axis: {columns[axis](v): at for at, v in enumerate(vs)} for axis, vs in meta.spec.within.items()}
    frame = pd.concat([frame for _, frame, _ in parts], ignore_index=True)
    meta = replace(meta, searches=[search for _, _, part in parts for search in part.searches])
    return frame.sort_values(list(places), key=lambda c: c.map(places[c.name]), kind="stable", ignore_index=True), meta


def _tuned(trials: "pd.DataFrame", keys: list[str], select: Select) -> "pd.DataFrame":
    """Return the scores of values on the seeds of their trials, by ``keys``: medians, the worst where one diverged."""
    groups = trials.groupby(keys, sort=False, dropna=False)
    tuned = groups.agg(score=("score", "median"), seeds=("seed", "count"), diverged=("diverged", "sum"))
    worst = scores.worst_score(scores.goal(select.tuning_metric, select))
    tuned["score"] = tuned["score"].mask(tuned["diverged"] > 0, worst)
    return tuned.add_prefix("tuning_").reset_index()


def _scored(frame: "pd.DataFrame", keys: list[str], select: Select) -> "pd.DataFrame":
    """Return scores, metrics and costs of chosen values, by ``keys``, from the runs on the scoring seeds."""
    metrics, of_runs = scores.metric_columns(frame, keys), [*keys, "seed"]
    rows = frame[frame["round"] > 0]
    runs = rows.groupby(of_runs, sort=False, dropna=False)
    scored = _ends(frame, keys, select.metric, select).set_index(of_runs)
    for statistic, name in itertools.product(("best", "final"), metrics):
        values = scores.score_frame(rows, of_runs, name, statistic, record(name).goal, select.last)
        scored[f"{statistic}_{name}"] = values
    costs = [name for name in ("round", "steps", *COSTS) if name != "round" or "rounds" not in keys]
    scored = scored.join(runs[costs].last().rename(columns={"round": "rounds"})).reset_index()
    groups = scored.groupby(keys, sort=False, dropna=False)
    numbers = [name for name in scored.columns if name not in (*of_runs, "score", "diverged")]
    with np.errstate(invalid="ignore"):
        score = groups["score"].agg(score="mean", score_sd="std", score_min="min", score_max="max", seeds="size")
    return score.join(groups["diverged"].sum()).join(groups[numbers].mean()).reset_index()


def _ends(frame: "pd.DataFrame", keys: list[str], metric: str, select: Select) -> "pd.DataFrame":
    """Return ``score`` and ``diverged`` (0 or 1) of each run, by ``keys`` and seed; diverged runs score worst."""
    of_runs, goal = [*keys, "seed"], scores.goal(metric, select)
    ends = frame.groupby(of_runs, sort=False, dropna=False)[["status"]].last()
    rows = frame[frame["round"] > 0]
    ends["score"] = scores.score_frame(rows, of_runs, metric, select.statistic, goal, select.last)
    ends["diverged"] = (ends.pop("status") == "diverged").astype(int)
    ends.loc[ends["diverged"] == 1, "score"] = scores.worst_score(goal)
    return ends.reset_index()


def _add_outcomes(table: "pd.DataFrame", meta: RunMeta, columns: Columns, tune: list[str]) -> None:
    """Say in words where chosen values lie at an end of their axis, and whether fresh seeds confirmed them."""
    rule, where = TUNING_RULES.build(meta.spec.tuning_rule), "at" if meta.spec.space is None else "near"
    for search in meta.searches:
        row = table["chosen"].copy()
        for axis, value in search.within.items():
            row &= table[axis] == columns[axis](value)
        ends = {axis: rule.edge(meta.spec, search, axis) for axis in tune}
        table.loc[row, "edge"] = "; ".join(f"{axis} {where} its {end} value" for axis, end in ends.items() if end)
        if search.confirmation is not None:
            table.loc[row, "confirmation"] = search.confirmation.outcome
