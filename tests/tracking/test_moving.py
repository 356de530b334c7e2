"""A project that is moved or copied: its runs and their artifacts go with it, and the original is left alone."""

import hashlib
import json
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import urllib.request

import pytest

from fedatlas.publish import tracking
from fedatlas.publish.tracking.connection import ENVIRONMENT
from tests.tracking.mlflow_server import wait_for
from tests.tracking.tiny import EXPERIMENT, LOGGED, experiment_facts, logged


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


def test_names_that_an_address_would_spell_otherwise(original):
    log(original, name="größe_1")
    assert "table.csv" in artifacts(original, "größe_1")
    assert "mlflow-artifacts:/größe_1" in places(original)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tiny", "größe_1"])
def test_the_interface_shows_artifacts_after_a_move(original, tmp_path, name):
    log(original, name=name)
    (report,) = logged(f"sqlite:///{original}/mlflow.db", name)[1]
    run = report.info.run_id
    moved = tmp_path / "moved"
    original.rename(moved)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-c", "from fedatlas.cli.main import main; main()", "ui", "--port", str(port)]
    command += ["--uri", f"sqlite:///{moved}/mlflow.db"]
    process = subprocess.Popen(command, cwd=tmp_path, env=os.environ | ENVIRONMENT, stdout=subprocess.DEVNULL)
    try:
        address = f"http://127.0.0.1:{port}"
        wait_for(address, process)
        with urllib.request.urlopen(f"{address}/api/2.0/mlflow/artifacts/list?run_id={run}", timeout=60) as answer:
            assert "table.csv" in {item["path"] for item in json.load(answer)["files"]}
        path = f"{address}/get-artifact?run_uuid={run}&path=figures/speed.png"
        with urllib.request.urlopen(path, timeout=60) as answer:
            assert answer.read() == (moved / "tiny/figures/speed.png").read_bytes()
    finally:
        process.terminate()
        process.wait()
