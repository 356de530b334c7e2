"""From run files to the table of an experiment: scores, tuned choices, warnings, and the curves of what was chosen."""

import contextlib
import itertools
import json

import numpy as np

from fedatlas.errors import UserError
from fedatlas.experiments.formulas import evaluate
from fedatlas.experiments.result_files import plain, read
from fedatlas.simulation.history import COSTS

NOT_METRICS = {"seed", "round", "steps", *COSTS, "status", "diverged_round"}


def view(experiment):
    """What tables, figures and report need to know of an experiment: its axes, choice rule and names."""
    tuned = dict(experiment["tune"])
    for entry in experiment["algorithms"].values():
        tuned.update({k: v for k, v in entry.get("tune", {}).items() if v is not None})
    keys = ("name", "size", "title", "paper", "source", "description", "notes", "select", "problem", "setting", "seeds")
    about = {key: experiment[key] for key in keys if key in experiment}
    about["axes"] = [*experiment["grid"], *experiment["within"]]
    about["tune"] = sorted(tuned)
    about["algorithms"] = {
        id: {"algorithm": entry.get("algorithm", id), "label": entry.get("label")}
        | {key: entry[key] for key in ("set", "tune", "setting") if entry.get(key)}
        for id, entry in experiment["algorithms"].items()
    }
    return about


def build(about, files):
    """(table, curves, metadata) of an experiment.

    about: from view(). files: (algorithm id, grid point, path) of all run files. Table: a row for each algorithm, point
    of the axes and tuned values, with means over seeds; ``chosen`` marks the tuned values that won, ``edge`` says where
    a winner lies at an end of its axis. A run that diverged cannot be chosen. Curves: all evaluations of the chosen.
    """
    import pandas as pd

    summaries, curves, metas = [], [], []
    for (id, point), parts in itertools.groupby(files, key=lambda file: file[:2]):
        frame, meta = _read([path for _, _, path in parts])
        metas.append((id, meta))
        frame.insert(0, "algorithm", id)
        for axis, value in point.items():
            frame.insert(1, axis, plain(value))
        tune = [axis for axis in about["tune"] if axis in meta["spec"]["tune"]]
        keys = ["algorithm", *about["axes"], *tune]
        table = _summarise(frame, keys, about["select"])
        _choose(table, ["algorithm", *about["axes"]], tune, meta["spec"]["tune"], about["select"]["goal"])
        summaries.append(table)
        chosen = table.loc[table["chosen"], keys]
        curves.append(frame.merge(chosen, on=keys))
    table = pd.concat(summaries, ignore_index=True)
    return table, pd.concat(curves, ignore_index=True), _metadata(about, table, metas)


def _read(paths):
    """(DataFrame, metadata) of the files that the runs of an algorithm at a grid point are spread over."""
    import pandas as pd

    frames, metas = zip(*map(read, paths), strict=True)
    if len(frames) == 1:
        return frames[0], metas[0]
    places = {axis: {plain(v): at for at, v in enumerate(vs)} for axis, vs in metas[0]["spec"]["within"].items()}
    frame = pd.concat(frames, ignore_index=True)
    return frame.sort_values(list(places), key=lambda c: c.map(places[c.name]), ignore_index=True), metas[0]


def _summarise(frame, keys, select):
    metrics = metric_columns(frame, keys)
    pick = "min" if select["goal"] == "min" else "max"
    runs = frame[frame["round"] > 0].groupby([*keys, "seed"], sort=False, dropna=False)
    # accuracy-like metrics are best when large, whatever the choice is made by
    best = runs.agg({m: "max" if larger_is_better(m) else "min" for m in metrics}).add_prefix("best_")
    final = runs[["round", "steps", *COSTS, *metrics]].last().rename(columns={m: f"final_{m}" for m in metrics})
    each = best.join(final).join(runs[["status"]].last()).reset_index().rename(columns={"round": "rounds"})
    if select["statistic"] == "final":
        each["score"] = each[f"final_{select['metric']}"]
    else:
        each["score"] = runs[select["metric"]].agg(pick).to_numpy()
    each["diverged"] = (each["status"] == "diverged").astype(int)
    each.loc[each["diverged"] == 1, "score"] = np.inf if pick == "min" else -np.inf
    groups = each.groupby(keys, sort=False, dropna=False)
    numbers = [c for c in each.columns if c not in (*keys, "seed", "status", "diverged", "score")]
    with np.errstate(invalid="ignore"):
        score = groups["score"].agg(score="mean", score_sd="std", score_min="min", score_max="max", seeds="count")
    return score.join(groups["diverged"].sum()).join(groups[numbers].mean()).reset_index()


def _choose(table, point, tune, axes, goal):
    table["chosen"], table["edge"] = False, ""
    for _, group in table.groupby(point, sort=False, dropna=False):
        score = group["score"] if goal == "min" else -group["score"]
        winner = score.idxmin()
        table.loc[winner, "chosen"] = True
        edges = []
        for axis in tune:
            sizes = {size: v for v in axes[axis] if (size := _size(v)) is not None}
            ends = {sizes[min(sizes)]: "lowest", sizes[max(sizes)]: "highest"} if len(sizes) > 1 else {}
            if end := ends.get(table.loc[winner, axis]):
                edges.append(f"{axis} at its {end} value")
        table.loc[winner, "edge"] = "; ".join(edges)


def _size(value):
    """What a tuned value is ordered by: a number itself, a formula with all constants 1; None for words."""
    if isinstance(value, str):
        with contextlib.suppress(UserError):
            return evaluate(value, "")
        return None
    return None if isinstance(value, bool) or not isinstance(value, (int, float)) else value


def _metadata(about, table, metas):
    first = metas[0][1]
    data = {name: entry for _, meta in metas for name, entry in meta.get("data", {}).items()}
    fingerprints = {id: meta["fingerprint"] for id, meta in metas}
    warnings = []
    chosen = table[table["chosen"]]
    for _, row in chosen[chosen["edge"] != ""].iterrows():
        where = ", ".join(f"{axis} = {label(row[axis])}" for axis in about["axes"])
        warnings.append(f"{row['algorithm']}{' at ' + where if where else ''}: the best {row['edge']} of the grid")
    for _, row in chosen[chosen["diverged"] > 0].iterrows():
        where = ", ".join(f"{axis} = {label(row[axis])}" for axis in about["axes"])
        warnings.append(f"{row['algorithm']}{' at ' + where if where else ''}: diverged for every tuned value")
    for name, entry in data.items():
        if entry.get("lossy"):
            warnings.append(
                f"{name} is a lossy copy: {entry.get('note', 'numbers do not compare with published ones')}"
            )
    return {
        **about,
        "versions": first["versions"],
        "data": data,
        "fingerprints": fingerprints,
        "warnings": warnings,
        "runs": int(table["seeds"].sum()),
        "diverged_runs": int(table["diverged"].sum()),
    }


def metric_columns(frame, axes=()):
    """Names of the columns of runs that hold metrics, which are numbers. axes: columns that say which run it is."""
    return [c for c in frame.columns if c not in NOT_METRICS and c not in axes and frame[c].dtype.kind in "iuf"]


def larger_is_better(metric):
    return "accuracy" in metric


def label(value):
    """An axis value for people: ``dirichlet, alpha = 0.3`` for the JSON text of a specification."""
    if isinstance(value, str) and value[:1] in "{[":
        value = json.loads(value)
    if isinstance(value, dict):
        options = [f"{k} = {label(v)}" for k, v in value.items() if k != "kind"]
        return ", ".join([str(value["kind"]), *options] if "kind" in value else options)
    if isinstance(value, list):
        return "(" + ", ".join(map(label, value)) + ")"
    if isinstance(value, (float, np.floating)):
        return f"{value:g}"
    return str(value)
