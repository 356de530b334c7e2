"""Run files of a tiny experiment that the real code makes, and places to log them to."""

import shutil
from pathlib import Path

import pytest

from fedatlas import data
from fedatlas.experiments import expand, files, run, tables
from fedatlas.tracking import store
from tests.tracking.tiny import EXPERIMENT


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A folder of results of EXPERIMENT."""
    root = tmp_path_factory.mktemp("results")
    data.prepare("breast_cancer", root / "data")
    points = []
    for cell in expand.cells(EXPERIMENT):
        path = root / "tiny/runs" / cell.id / f"{cell.key}.parquet"
        run.run_cell(cell.spec, path, root / "data")
        points.append((cell.id, cell.point, path))
    table, _, meta = tables.build(tables.view(EXPERIMENT), points)
    files.write(root / "tiny/table.parquet", table, meta)
    table.to_csv(root / "tiny/table.csv")
    claims = "claim,text,verdict\na,FedAc is fast.,held\nb,FedAvg is slow.,not tested at this size\n"
    (root / "tiny/claims.csv").write_text(claims)
    (root / "tiny/figures").mkdir()
    (root / "tiny/figures/speed.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    return root / "tiny"


@pytest.fixture(scope="module")
def empty(tmp_path_factory):
    """An empty database, which takes MLflow seconds to make."""
    path = tmp_path_factory.mktemp("empty") / "mlflow.db"
    with store.connect(f"sqlite:///{path}"):
        pass
    return path


@pytest.fixture
def uri(tmp_path, empty):
    shutil.copy(empty, tmp_path / "mlflow.db")
    return f"sqlite:///{tmp_path}/mlflow.db"


@pytest.fixture
def mine(results, tmp_path):
    """A copy of the results that a test may change."""
    return Path(shutil.copytree(results, tmp_path / "tiny"))
