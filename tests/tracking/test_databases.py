"""Where runs are logged to: databases that jobs share, addresses, and files that are not MLflow's databases."""

import os
import shutil
import sqlite3
from contextlib import closing

import pytest

from fedatlas.errors import UserError
from fedatlas.publish import tracking
from tests.tracking.tiny import EXPERIMENT, LOGGED, experiment_facts


def log(results, path):
    return tracking.log(experiment_facts(EXPERIMENT), results, f"sqlite:///{path}")


def foreign(path, empty):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE yours (a TEXT)")
        connection.execute("CREATE TABLE mine (a TEXT)")
        connection.commit()


def truncated(path, empty):
    path.write_bytes(empty.read_bytes()[:50_000])


def newer(path, empty):
    shutil.copy(empty, path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = 'ffffffffffff'")
        connection.commit()


CASES = [
    (foreign, "no such table: alembic_version"),
    (truncated, "malformed"),
    (newer, "out-of-date|locate revision"),
]


def content(folder):
    """All that a folder holds, except the locks."""
    result = {}
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".lock" or path.name.endswith(("-wal", "-shm")):
            continue
        result[path] = path.read_bytes() if path.is_file() else None
    return result


@pytest.mark.parametrize("lay, message", CASES, ids=lambda value: getattr(value, "__name__", ""))
def test_what_is_no_database_of_this_mlflow(results, tmp_path, empty, lay, message):
    path = tmp_path / "place/mlflow.db"
    path.parent.mkdir()
    lay(path, empty)
    before = content(path.parent)
    with pytest.raises(UserError, match=message) as error:
        log(results, path)
    assert "\n" not in str(error.value) and str(path) in str(error.value)
    assert content(path.parent) == before


@pytest.mark.slow
def test_a_database_that_another_program_writes_to(results, tmp_path, empty):
    path = tmp_path / "mlflow.db"
    shutil.copy(empty, path)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(UserError, match="database is locked"):
            log(results, path)
    assert log(results, path)["logged"] == LOGGED


def test_user_interface(results, tmp_path, monkeypatch, capsys):
    uri = f"sqlite:///{tmp_path}/mlflow.db"
    with pytest.raises(UserError, match=r"there is no .*mlflow\.db yet: run `fedatlas track"):
        tracking.serve_ui(uri)
    tracking.log(experiment_facts(EXPERIMENT), results, uri)
    calls = []
    monkeypatch.setattr(os, "execve", lambda *arguments: calls.append(arguments))
    tracking.serve_ui(uri, 5432)
    assert (
        capsys.readouterr().out.strip() == "MLflow: http://127.0.0.1:5432/#/experiments?workflowType=machine_learning"
    )
    ((_, command, environment),) = calls
    assert command[1:4] == ["-m", "mlflow", "ui"] and {"5432", uri, f"{tmp_path}/mlartifacts"} <= {*command}
    assert environment["MLFLOW_SERVER_ENABLE_JOB_EXECUTION"] == "false"
