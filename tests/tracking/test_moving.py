"""A project that is moved or copied: its runs and their artifacts go with it, and the original is left alone."""

import hashlib
import shutil
import sqlite3

import pytest

from fedatlas.publish import tracking
from tests.tracking.tiny import EXPERIMENT, LOGGED, experiment_facts


def log(project, **changes):
    """Log the results in a project to the database in it."""
    uri = f"sqlite:///{project}/mlflow.db"
    return tracking.log(experiment_facts(EXPERIMENT, **changes), project / "tiny", uri)


def bytes_of(folder):
    """A hash of every file that a project holds."""
    files = (path for path in folder.rglob("*") if path.is_file() and not path.name.endswith(("-wal", "-shm")))
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def artifacts(project, name="tiny"):
    return {path.name for path in (project / "mlartifacts" / name).rglob("*") if path.is_file()}


def places(project):
    with sqlite3.connect(project / "mlflow.db") as connection:
        result = connection.execute("SELECT artifact_location FROM experiments WHERE name <> 'Default'").fetchall()
        result += connection.execute("SELECT artifact_uri FROM runs").fetchall()
    connection.close()
    return [address for (address,) in result]


@pytest.fixture
def original(results, empty, tmp_path):
    """A project whose results are logged."""
    project = tmp_path / "original"
    shutil.copytree(results, project / "tiny")
    shutil.copy(empty, project / "mlflow.db")
    log(project)
    return project


def test_a_project_that_lies_elsewhere(original, tmp_path):
    before = bytes_of(original)
    copy = tmp_path / "a copy"
    shutil.copytree(original, copy)
    (copy / "tiny/figures/new.png").write_text("new")
    assert "new.png" not in artifacts(copy)
    receipt = log(copy)
    assert (receipt["logged"], receipt["unchanged"]) == (1, LOGGED - 1)
    assert "new.png" in artifacts(copy)
    assert all(address.startswith("mlflow-artifacts:/tiny") for address in places(copy))
    assert {address.rpartition("/")[2] for address in places(copy)} == {"tiny", "artifacts"}
    assert bytes_of(original) == before
    shutil.rmtree(original)
    log(copy, size="laptop")  # other runs get relative places too
    assert all(address.startswith("mlflow-artifacts:/tiny") for address in places(copy))
