"""A tiny experiment, results of it or another, and what MLflow shows of them."""

import dataclasses
import itertools
from pathlib import Path

import pandas as pd

from fedatlas.experiments import result_files as files
from fedatlas.experiments import specification
from fedatlas.experiments.cells import CellSpec, has_choice
from fedatlas.experiments.runs import RunMeta, initial_searches, product, runs
from fedatlas.experiments.specification import Experiment
from fedatlas.experiments.tables import build
from fedatlas.publish.report.facts import Facts, build_facts
from tests import helpers
from tests.report.sample import view

EXPERIMENT = specification.experiment(
    "tiny",
    "smoke",
    "config/experiments/tiny.yaml",
    {
        "title": "A tiny experiment",
        "paper": "yuan2020",
        "source": "Figure 1",
        "notes": ["Nothing of it is in the paper."],
        "problem": {"kind": "logistic", "data": "breast_cancer", "l2": 1e-2},
        "setting": {"steps": 8, "eval_steps": 4, "batch": 4},
        "grid": {"local_steps": [1, 2]},
        "within": {"clients": [2, 3]},
        "tune": {"lr": [0.1, 1e200]},
        "seeds": [0, 1],
        "select": {"metric": "loss", "statistic": "best", "goal": "min", "extend": 0, "seeds": [1000]},
        "algorithms": {"fedavg": {}, "fedac": {"algorithm": "fedac-1", "tune": {"lr": [0.05]}}},
    },
)
SETTINGS = 2 * 2 * 2  # algorithms, values of two axes
SEEDS = 2 * SETTINGS  # runs on scoring seeds
RUNS = SEEDS + SETTINGS  # with those on a tuning seed, of which FedAvg has two, one of them of a value that diverges
LOGGED = SETTINGS + 1  # with the report
DATA = {"rows": 456, "test_rows": 113, "classes": 2, "licence": "CC BY 4.0", "page": "https://example.org", "lossy": ""}


def experiment_facts(experiment: Experiment, **changes) -> Facts:
    """The facts of an experiment, of which some fields are changed."""
    changed = dataclasses.replace(experiment, **changes)
    return build_facts(changed, view(changed))


def run_files(folder: Path, id: str = "*") -> list[Path]:
    """Paths of the run files in an experiment's folder, of one algorithm or of all."""
    return sorted(folder.glob(f"runs/{id}/*.parquet"))


def make(experiment: Experiment, folder: Path) -> None:
    """Run an experiment on small data and write its run files and its table."""
    problem = helpers.logistic(heterogeneous=False)
    for id, point in itertools.product(experiment.algorithms, product(experiment.grid)):
        tune = experiment.tuning_grid(id)
        spec = CellSpec(
            algorithm=experiment.algorithm(id),
            parameters={},
            problem=experiment.problem,
            setting=experiment.setting | point,
            within=experiment.within,
            tune=tune,
            seeds=experiment.seeds,
            select=experiment.select if has_choice(tune) else None,
        )
        best = {"lr": min(tune["lr"])}  # the others diverge
        searches = [dataclasses.replace(search, chosen=best) for search in initial_searches(spec)]
        cell_runs = list(runs(spec, searches))
        frame = pd.DataFrame([row for run in cell_runs for row in rows(run, problem)])
        key = ",".join(f"{axis}={value}" for axis, value in point.items())
        meta = RunMeta(
            spec,
            "0123456789abcdef",
            [{"numpy": "2.0.0"}],
            [0] * len(cell_runs),
            {"breast_cancer": DATA},
            searches=searches if spec.select else [],
        ).to_dict()
        files.write(folder / f"runs/{id}/{key}.parquet", frame, meta)
    remake(experiment, folder)


def remake(experiment: Experiment, folder: Path, *ids: str) -> Facts:
    """Write the tables of the run files in an experiment's folder, and return the facts of the algorithms with ids."""
    ids = ids or tuple(experiment.algorithms)
    paths = [path for id in ids for path in run_files(folder, id)]
    *frames, meta = build(list(experiment.grid), experiment.select, paths)
    for name, frame in zip(("table", "curves", "trials"), frames, strict=True):
        files.write(folder / f"{name}.parquet", frame, meta.to_dict())
    return experiment_facts(experiment, algorithms={id: experiment.algorithms[id] for id in ids})


def rows(run, problem) -> list[dict]:
    """Rows of a run as a run file holds them."""
    options = {"rounds": None, "local_steps": None, "eval_rounds": None} | run.setting
    trace = helpers.run(run.algorithm, run.parameters, problem, seed=run.seed, **options)
    point = {**run.within, **run.tune, "seed": run.seed}
    end = {"status": trace.status, "diverged_round": -1 if trace.diverged_round is None else trace.diverged_round}
    return [{**point, **row, **end} for row in trace.rows]


def logged(uri, name="tiny"):
    """(client, report runs and those of a person, setting runs, runs of seeds) of an experiment."""
    client, result = stored(uri, name)
    phases = {phase: [r for r in result if r.data.tags.get("phase") == phase] for phase in ("setting", "seed")}
    reports = [r for r in result if r.data.tags.get("phase") in ("report", None)]
    return client, reports, sorted(phases["setting"], key=lambda r: r.info.run_name), phases["seed"]


def stored(uri, name="tiny"):
    """(client, runs) of an experiment, those that started last first."""
    from mlflow import MlflowClient

    client = MlflowClient(uri)
    return client, client.search_runs([client.get_experiment_by_name(name).experiment_id], max_results=1000)


def run_by_name(children, name):
    (result,) = [r for r in children if r.info.run_name == name]
    return result
