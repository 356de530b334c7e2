"""A tiny experiment, results of it or another, and what MLflow shows of them."""

from fedatlas.data.store import prepare
from fedatlas.experiments import expand, run, tables
from fedatlas.experiments import result_files as files

EXPERIMENT = {
    "name": "tiny",
    "size": "smoke",
    "file": "config/experiments/tiny.yaml",
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
    "select": {"metric": "loss", "statistic": "best", "goal": "min"},
    "algorithms": {"fedavg": {}, "fedac": {"algorithm": "fedac-1", "tune": {"lr": [0.05]}}},
    "figures": {},
    "claims": {},
}
RUNS = 2 * 2 * 2 * (2 + 1)


def make(experiment, folder):
    """Run an experiment's cells and make its table, as the workflow does; the prepared data lie beside the folder."""
    directory = folder.parent / "data"
    prepare("breast_cancer", directory)
    points = []
    for cell in expand.cells(experiment):
        path = folder / "runs" / cell.id / f"{cell.key}.parquet"
        run.run_cell(cell.spec, path, directory)
        points.append((cell.id, cell.point, path))
    table, _, meta = tables.build(tables.view(experiment), points)
    files.write(folder / "table.parquet", table, meta)
    return table


def logged(uri, name="tiny"):
    """(client, parent runs, child runs) of an experiment."""
    from mlflow import MlflowClient

    client = MlflowClient(uri)
    found = client.search_runs([client.get_experiment_by_name(name).experiment_id], max_results=1000)
    children = [r for r in found if "mlflow.parentRunId" in r.data.tags]
    return client, [r for r in found if r not in children], children


def named(children, name):
    (found,) = [r for r in children if r.info.run_name == name]
    return found
