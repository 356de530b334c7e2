"""Small experiments whose results come from formulas, in the form of `fedatlas.experiments.tables`."""

import copy
import itertools

import numpy as np
import pandas as pd

from fedatlas.experiments import result_files as files
from fedatlas.experiments import specification, tables
from fedatlas.experiments.cells import CellSpec, has_choice
from fedatlas.experiments.runs import Search, assign, product
from fedatlas.experiments.values import column_cells
from fedatlas.experiments.view import AlgorithmView, ExperimentView
from fedatlas.federation import algorithms

COSTS = ("vectors_up", "vectors_down", "bits_up", "bits_down", "gradients", "samples", "seconds")
ALGORITHMS = ("fedavg", "fedac-1")


def experiment(algorithms=ALGORITHMS, grid=None, metric="suboptimality", goal="min", seeds=(0, 1), **sections):
    """Create an Experiment.

    Args:
        algorithms: Ids, or entries by id.
        **sections: Other keys of the file.
    """
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
        **sections,
    }
    return specification.experiment("made_up", "smoke", "config/experiments/made_up.yaml", content)


def view(spec):
    """Return the view of an Experiment that figures have."""
    views = {
        id: AlgorithmView(spec.algorithm(id), _label(spec, id), entry.set) for id, entry in spec.algorithms.items()
    }
    tune = sorted({axis for id in spec.algorithms for axis in spec.tuning_grid(id)})
    fields = (list(spec.axes), tune, spec.select, spec.problem, spec.setting, spec.seeds, views)
    return ExperimentView(spec.name, spec.size, *fields)


def _label(spec, id):
    default = algorithms.ALGORITHMS.get(id).label if spec.algorithm(id) == id else id
    return spec.algorithms[id].label or default


def build(experiment, folder, value, diverges=lambda id, point: False):
    """Write run files of an experiment, and return its table, curves and view.

    Args:
        experiment: Experiment.
        folder: Folder of the run files.
        value: Function of (algorithm id, point, lr, seed, rounds) that returns the metric of all evaluated rounds.
        diverges: Function of (algorithm id, point) that returns whether the runs diverge.
    """
    paths = []
    rounds = np.arange(0, 41, 4)
    for id, point in itertools.product(experiment.algorithms, product(experiment.grid)):
        frames = []
        values = experiment.tune.get("lr", [0.1])
        select = experiment.select if has_choice(experiment.tune) else None
        best = min if experiment.select.goal == "min" else max
        best_lr = best(values, key=lambda lr: best(value(id, point, lr, 0, rounds)[1:]))
        tuning = [(lr, 0, seed) for lr in values for seed in (experiment.select.seeds if select else ())]
        for lr, draw, seed in [*tuning, *((best_lr, seed, seed) for seed in experiment.seeds)]:
            y = np.asarray(value(id, point, lr, draw, rounds), float)
            frame = pd.DataFrame({"lr": lr, "seed": seed, "round": rounds, "steps": rounds})
            frame = frame.assign(**dict.fromkeys(COSTS, rounds * 1.0))
            frame = frame.assign(loss=y + 1, status="ok", diverged_round=-1, **{experiment.select.metric: y})
            if diverges(id, point):
                frame = frame[:3].assign(status="diverged", diverged_round=8)
            frames.append(frame)
        path = folder / f"{id}/{len(paths)}.parquet"
        parts = {
            "parameters": {},
            "problem": copy.deepcopy(experiment.problem),
            "setting": copy.deepcopy(experiment.setting),
        }
        assign(parts, point)
        spec = CellSpec(
            experiment.algorithm(id), tune=experiment.tune, seeds=experiment.seeds, select=select, **parts
        ).to_dict()
        meta = {"spec": spec, "fingerprint": "0123456789abcdef", "environments": [{"fedatlas": "0.1.0"}]}
        if select:
            meta["searches"] = [{"within": {}, "axes": experiment.tune, "chosen": {"lr": best_lr}}]
        meta["data"] = {"breast_cancer": {"rows": 456, "test_rows": 113, "shape": [30], "classes": 2, "lossy": ""}}
        if select:
            meta["searches"] = [Search({}, experiment.tune, {"lr": best_lr}).to_dict()]
        files.write(path, pd.concat(frames, ignore_index=True), meta)
        paths.append(path)
    experiment_view = view(experiment)
    table, curves, *_ = tables.build(list(experiment.grid), experiment.select, paths)
    return table, curves, experiment_view


def decay(id, point, lr, seed, rounds):
    """Return a suboptimality that falls to a floor of 1 / clients, faster for fedac-1 and larger lr."""
    rate = (0.2 if id == "fedac-1" else 0.05) * lr
    return (1 + 0.1 * seed) * (np.exp(-rate * rounds) + 1 / point.get("clients", 10))


def table(rows, axes=("clients",), metric="suboptimality"):
    """Create a table whose rows are all chosen.

    Args:
        rows: (algorithm, point, score); an infinite score is a diverged run, a list has a score for each seed.
        axes: Names of the axes.
        metric: Metric of the scores.
    """
    records = []
    points = [point if isinstance(point, tuple) else (point,) for _, point, _ in rows]
    columns = [column_cells(values) for values in zip(*points, strict=True)]
    for (algorithm, _, score), point in zip(rows, points, strict=True):
        score = float(np.mean(score))
        cells = [cell(value) for cell, value in zip(columns, point, strict=True)]
        row = {"algorithm": algorithm, **dict(zip(axes, cells, strict=True)), "score": score}
        row |= {"rounds": 64.0 / (point[0] if axes[0] == "local_steps" else 1), f"best_{metric}": score}
        row |= {f"final_{metric}": 2 * score, "diverged": int(not np.isfinite(score)), "chosen": True, "edge": ""}
        row |= {"tuning_score": np.nan, "tuning_seeds": 0, "tuning_diverged": 0}
        records.append(row)
    return pd.DataFrame(records)


def curves_of(rows, axes=("clients",), metric="suboptimality", goal="min"):
    """Create the curves of a table: two evaluations for each seed, of which the first is the score.

    Args:
        rows: As of `table`; a score is that of two seeds, or a list of scores by seed.
        axes: Names of the axes.
        metric: Metric of the scores.
        goal: Whether small (``min``) or large (``max``) scores are good.
    """
    records = []
    for algorithm, point, scores in rows:
        point = point if isinstance(point, tuple) else (point,)
        last = 64 / (point[0] if axes[0] == "local_steps" else 1)
        for seed, score in enumerate(scores if isinstance(scores, list) else [scores] * 2):
            cells = {axis: column_cells([value])(value) for axis, value in zip(axes, point, strict=True)}
            row = {"algorithm": algorithm, **cells, "seed": seed, "status": "ok" if np.isfinite(score) else "diverged"}
            later = 2 * score if goal == "min" else score / 2
            records += [{**row, "round": last / 2, metric: score}, {**row, "round": last, metric: later}]
    return pd.DataFrame(records)


def curves(rows, axes=("clients",), metric="suboptimality"):
    """Create curves.

    Args:
        rows: (algorithm, point, seed, [(round, value)]); a run that ends at infinity diverged.
        axes: Name of the axis.
        metric: Metric of the values.
    """
    records = []
    for algorithm, point, seed, values in rows:
        run = {"algorithm": algorithm, axes[0]: point, "seed": seed}
        status = "ok" if np.isfinite(values[-1][1]) else "diverged"
        records += [{**run, "round": t, metric: value, "status": status} for t, value in values]
    return pd.DataFrame(records, columns=["algorithm", *axes, "seed", "round", metric, "status"])


def rows(scores, axis="local_steps"):
    """Create a table of {(algorithm, point, c): score}; the smallest score of a point is chosen."""
    table = pd.DataFrame(
        [(*key, float(score)) for key, score in scores.items()], columns=["algorithm", axis, "c", "score"]
    )
    table["diverged"] = (~np.isfinite(table["score"])).astype(int)
    table["tuning_score"], table["tuning_seeds"], table["tuning_diverged"] = table["score"], 1, table["diverged"]
    table["chosen"] = table.groupby(["algorithm", axis])["score"].transform("min") == table["score"]
    return table.assign(best_loss=table["score"], final_loss=table["score"], final_apart=0.1, best_apart=0.1, edge="")
