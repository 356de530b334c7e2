"""Small experiments with results made up by formula, in the form that fedatlas.experiments.tables gives."""

import copy
import itertools

import numpy as np
import pandas as pd

from fedatlas.experiments import axis_values, specification, tables
from fedatlas.experiments import result_files as files
from fedatlas.experiments.cells import CellSpec, has_choice
from fedatlas.experiments.experiment_view import AlgorithmView, ExperimentView
from fedatlas.experiments.runs import assign, product
from fedatlas.federation import algorithms

COSTS = ("vectors_up", "vectors_down", "gradients", "samples", "seconds")
ALGORITHMS = ("fedavg", "fedac-1")


def experiment(algorithms=ALGORITHMS, grid=None, metric="suboptimality", goal="min", seeds=(0, 1), **more):
    """An Experiment. algorithms: ids, or entries by id. more: other keys of the file."""
    content = {
        "title": "Made up & < true",
        "paper": "yuan2020",
        "source": "Figure 0",
        "description": "Rates r^0.75 with eta >= 1e-3 and `lr`.",
        "notes": ["A choice."],
        "problem": {"kind": "logistic", "data": "breast_cancer", "l2": 0.01},
        "optimum": True,
        "setting": {"steps": 64},
        "grid": {"local_steps": [1, 8], "clients": [4, 16, 64]} if grid is None else grid,
        "tune": {"lr": [0.1, 1]},
        "seeds": list(seeds),
        "select": {"metric": metric, "statistic": "best", "goal": goal},
        "algorithms": algorithms if isinstance(algorithms, dict) else {name: {} for name in algorithms},
        **more,
    }
    return specification.experiment("made_up", "smoke", "config/experiments/made_up.yaml", content)


def view(made):
    """What figures know of an Experiment."""
    shown = {id: AlgorithmView(made.algorithm(id), _name(made, id), entry.set) for id, entry in made.algorithms.items()}
    tuned = sorted({axis for id in made.algorithms for axis in made.tuning_grid(id)})
    about = (list(made.axes), tuned, made.select, made.problem, made.setting, made.seeds, shown)
    return ExperimentView(made.name, made.size, *about)


def _name(made, id):
    own = made.algorithm(id) == id
    return made.algorithms[id].label or (algorithms.get(id).label if own else id)


def build(made, folder, value, diverges=lambda id, point: False):
    """(table, curves, view) of an experiment, through run files and the real tables.

    value: function of (algorithm id, point, lr, seed, rounds) that gives the metric at every evaluated round.
    """
    found = []
    rounds = np.arange(0, 41, 4)
    for id, point in itertools.product(made.algorithms, product(made.grid)):
        frames = []
        values = made.tune.get("lr", [0.1])
        select = made.select if has_choice(made.tune) else None
        best = min if made.select.goal == "min" else max
        chosen = best(values, key=lambda lr: best(value(id, point, lr, 0, rounds)[1:]))
        tuning = [(lr, 0, seed) for lr in values for seed in (made.select.seeds if select else ())]
        for lr, draw, seed in [*tuning, *((chosen, seed, seed) for seed in made.seeds)]:
            y = np.asarray(value(id, point, lr, draw, rounds), float)
            frame = pd.DataFrame({"lr": lr, "seed": seed, "round": rounds, "steps": rounds})
            frame = frame.assign(**dict.fromkeys(COSTS, rounds * 1.0))
            frame = frame.assign(loss=y + 1, status="ok", diverged_round=-1, **{made.select.metric: y})
            if diverges(id, point):
                frame = frame[:3].assign(status="diverged", diverged_round=8)
            frames.append(frame)
        path = folder / f"{id}/{len(found)}.parquet"
        parts = {"parameters": {}, "problem": copy.deepcopy(made.problem), "setting": copy.deepcopy(made.setting)}
        for axis, at in point.items():
            assign(parts, axis, at)
        spec = CellSpec(made.algorithm(id), tune=made.tune, seeds=made.seeds, select=select, **parts).plain()
        meta = {"spec": spec, "fingerprint": "0123456789abcdef", "versions": {"fedatlas": "0.1.0"}}
        meta["data"] = {"breast_cancer": {"rows": 456, "test_rows": 113, "shape": [30], "classes": 2, "lossy": ""}}
        files.write(path, pd.concat(frames, ignore_index=True), meta)
        found.append(path)
    about = view(made)
    layout = tables.Layout(list(made.grid), list(made.within), about.tune, made.select)
    table, curves, *_ = tables.build(layout, found)
    return table, curves, about


def decay(id, point, lr, seed, rounds):
    """A suboptimality that falls to a floor of 1 / clients, faster for fedac-1 and larger lr."""
    rate = (0.2 if id == "fedac-1" else 0.05) * lr
    return (1 + 0.1 * seed) * (np.exp(-rate * rounds) + 1 / point.get("clients", 10))


def table(rows, axes=("clients",), metric="suboptimality"):
    """A table by hand. rows: (algorithm, point, score), all chosen; an infinite score is one that diverged, a list
    holds the scores of the seeds."""
    made = []
    points = [point if isinstance(point, tuple) else (point,) for _, point, _ in rows]
    columns = [axis_values.column(values) for values in zip(*points, strict=True)]
    for (algorithm, _, score), point in zip(rows, points, strict=True):
        score = float(np.mean(score))
        cells = [cell(value) for cell, value in zip(columns, point, strict=True)]
        row = {"algorithm": algorithm, **dict(zip(axes, cells, strict=True)), "score": score}
        row |= {"rounds": 64.0 / (point[0] if axes[0] == "local_steps" else 1), f"best_{metric}": score}
        row |= {f"final_{metric}": 2 * score, "diverged": int(not np.isfinite(score)), "chosen": True, "edge": ""}
        row |= {"tuning_score": np.nan, "tuning_seeds": 0, "tuning_diverged": 0}
        made.append(row)
    return pd.DataFrame(made)


def curves_of(rows, axes=("clients",), metric="suboptimality", goal="min"):
    """The curves of a table by hand: two evaluations for each seed, of which the first is the score.

    rows: as of ``table``; a score is that of two seeds, or a list of scores by seed.
    """
    made = []
    for algorithm, point, scores in rows:
        point = point if isinstance(point, tuple) else (point,)
        last = 64 / (point[0] if axes[0] == "local_steps" else 1)
        for seed, score in enumerate(scores if isinstance(scores, list) else [scores] * 2):
            cells = {axis: axis_values.column([value])(value) for axis, value in zip(axes, point, strict=True)}
            row = {"algorithm": algorithm, **cells, "seed": seed, "status": "ok" if np.isfinite(score) else "diverged"}
            later = 2 * score if goal == "min" else score / 2
            made += [{**row, "round": last / 2, metric: score}, {**row, "round": last, metric: later}]
    return pd.DataFrame(made)


def curves(rows, axes=("clients",), metric="suboptimality"):
    """Curves by hand. rows: (algorithm, point, seed, [(round, value)]); a run that ends at infinity diverged."""
    made = []
    for algorithm, point, seed, values in rows:
        run = {"algorithm": algorithm, axes[0]: point, "seed": seed}
        status = "ok" if np.isfinite(values[-1][1]) else "diverged"
        made += [{**run, "round": at, metric: value, "status": status} for at, value in values]
    return pd.DataFrame(made, columns=["algorithm", *axes, "seed", "round", metric, "status"])


def rows(scores, axis="local_steps"):
    """A table by hand: {(algorithm, point, c): score}; the smallest score of a point is chosen."""
    made = pd.DataFrame(
        [(*key, float(score)) for key, score in scores.items()], columns=["algorithm", axis, "c", "score"]
    )
    made["diverged"] = (~np.isfinite(made["score"])).astype(int)
    made["tuning_score"], made["tuning_seeds"], made["tuning_diverged"] = made["score"], 1, made["diverged"]
    made["chosen"] = made.groupby(["algorithm", axis])["score"].transform("min") == made["score"]
    return made.assign(best_loss=made["score"], final_loss=made["score"], final_apart=0.1, best_apart=0.1, edge="")
