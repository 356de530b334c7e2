"""A tiny experiment, and what MLflow shows of it."""

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
