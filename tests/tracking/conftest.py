"""Run files of a tiny experiment and places to log them to."""

import csv
import shutil
from pathlib import Path

import pytest

from fedatlas.publish import tracking
from fedatlas.publish.tracking.log import connect
from fedatlas.workflow.jobs.claims import COLUMNS
from tests.tracking.tiny import EXPERIMENT, LOGGED, experiment_facts, make

FIRST = {"logged": LOGGED, "unchanged": 0, "deleted": 0}  # the receipt of new results


@pytest.fixture(scope="session")
def results(tmp_path_factory):
    """A folder of results of EXPERIMENT."""
    folder = tmp_path_factory.mktemp("results") / "tiny"
    make(EXPERIMENT, folder)
    (folder / "table.csv").write_text("algorithm,score\n")
    (folder / "report.html").write_text("<!doctype html><title>tiny</title>")
    claims = {"a": ("FedAc is fast.", "held"), "b": ("FedAvg is slow.", "not tested at this size")}
    with open(folder / "claims.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, restval="")
        writer.writeheader()
        for name, (text, verdict) in claims.items():
            writer.writerow({"claim": name, "size": "smoke", "text": text, "verdict": verdict})
    (folder / "figures").mkdir()
    (folder / "figures/speed.png").write_bytes(b"a picture")
    return folder


@pytest.fixture(scope="session")
def empty(tmp_path_factory):
    """An empty database, which takes MLflow seconds to make."""
    path = tmp_path_factory.mktemp("empty") / "mlflow.db"
    with connect(f"sqlite:///{path}"):
        pass
    return path


@pytest.fixture(scope="session")
def database(results, empty, tmp_path_factory):
    """A database to which the results are logged, for tests that read it."""
    path = tmp_path_factory.mktemp("logged") / "mlflow.db"
    shutil.copy(empty, path)
    assert tracking.log(experiment_facts(EXPERIMENT), results, f"sqlite:///{path}") == FIRST
    return path


@pytest.fixture
def uri(tmp_path, empty):
    shutil.copy(empty, tmp_path / "mlflow.db")
    return f"sqlite:///{tmp_path}/mlflow.db"


@pytest.fixture
def mine(results, tmp_path):
    """A copy of the results that a test may change."""
    return Path(shutil.copytree(results, tmp_path / "tiny"))
