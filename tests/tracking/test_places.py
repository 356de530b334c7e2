"""Where runs are logged to: databases that jobs share, addresses, the user interface."""

import contextlib
import multiprocessing
import os
import sqlite3
import subprocess
import sys

import pytest

from fedatlas.errors import UserError
from fedatlas.publish import tracking
from fedatlas.publish.tracking import connection
from tests.tracking.tiny import EXPERIMENT, LOGGED, SEEDS, experiment_facts, logged


def test_a_database_whose_making_was_cut_off_is_made_again(tmp_path, monkeypatch):
    import mlflow

    class Killed(BaseException):
        pass

    def die(uri):
        sqlite3.connect(uri.removeprefix("sqlite:///")).execute("CREATE TABLE experiments (name TEXT)")
        raise Killed

    path = tmp_path / "mlflow.db"
    with monkeypatch.context() as patch:
        patch.setattr(mlflow, "MlflowClient", die)
        with pytest.raises(Killed), connection.connect(f"sqlite:///{path}"):
            pass
    assert not list(tmp_path.iterdir())
    path.touch()  # an empty file is none either
    with connection.connect(f"sqlite:///{path}") as client:
        assert [e.name for e in client.search_experiments()] == ["Default"]
    assert all(item.name == "mlflow.db" or item.stat().st_size == 0 for item in tmp_path.glob("mlflow.db*[!m]"))


def _log_as(name, directory, uri):
    tracking.log(experiment_facts(EXPERIMENT, name=name), directory, uri)


@pytest.mark.slow
def test_jobs_log_to_one_database_at_the_same_time(results, tmp_path):
    uri = f"sqlite:///{tmp_path}/new/mlflow.db"
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["mlflow.store.tracking.sqlalchemy_store", __name__])  # 4 s once, not in every job
    jobs = [context.Process(target=_log_as, args=(name, results, uri)) for name in ("a", "b", "c", "a")]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join(60)
    assert [job.exitcode for job in jobs] == [0] * 4
    for name in "abc":
        _, reports, settings, seeds = logged(uri, name)
        assert (len(reports) + len(settings), len(seeds)) == (LOGGED, SEEDS)


@pytest.mark.parametrize(
    ("uri", "message"),
    [
        ("sqlite:///{}/file/mlflow.db", "cannot write"),
        ("sqlite:///{}/file", "cannot write .*not a database"),
    ],
)
def test_wrong_addresses(results, tmp_path, uri, message):
    (tmp_path / "file").write_text("This is no database, but long enough to be taken for one. " * 20)
    with pytest.raises(UserError, match=message):
        tracking.log(experiment_facts(EXPERIMENT), results, uri.format(tmp_path))


def test_user_interface(tmp_path, monkeypatch, capsys):
    with pytest.raises(UserError, match=r"there is no .*mlflow\.db yet: run `fedatlas track"):
        tracking.serve_ui(f"sqlite:///{tmp_path}/mlflow.db")
    with connection.connect(f"sqlite:///{tmp_path}/mlflow.db"):
        pass
    called = {}

    class Server:  # answers at once, and stops
        returncode = 0

        def __init__(self, command, env):
            called.update(command=command, env=env)

        poll = terminate = wait = lambda self: None

    monkeypatch.setattr("fedatlas.publish.tracking.server._addresses", lambda server: [f"{server}/#/experiments"])
    answers = iter([False, True])
    monkeypatch.setattr("fedatlas.publish.tracking.server._is_in_use", lambda port: next(answers, True))
    monkeypatch.setattr(subprocess, "Popen", Server)
    tracking.serve_ui(f"sqlite:///{tmp_path}/mlflow.db", 5432)
    assert "http://127.0.0.1:5432/#/experiments" in capsys.readouterr().out
    assert called["command"][:4] == [sys.executable, "-m", "mlflow", "ui"] and "5432" in called["command"]
    assert called["env"]["MLFLOW_SERVER_ENABLE_JOB_EXECUTION"] == "false"
    with pytest.raises(UserError, match="port 5432 is in use"):
        tracking.serve_ui(f"sqlite:///{tmp_path}/mlflow.db", 5432)


def test_mlflow_is_imported_only_to_log():
    code = "import sys, fedatlas.publish.tracking; sys.exit('mlflow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], env=os.environ).returncode == 0


@pytest.mark.parametrize("refusals", [0, 1, 2])
def test_what_a_server_refuses_to_one_of_two_is_asked_for_again(refusals):
    from mlflow.exceptions import RestException

    answers = [RestException({"error_code": "BAD_REQUEST", "message": "UNIQUE constraint failed"})] * refusals
    attempts = []

    def act():
        attempts.append(1)
        if answers:
            raise answers.pop()

    with pytest.raises(RestException) if refusals > 1 else contextlib.nullcontext():
        connection.retry_once(act)
    assert len(attempts) == min(refusals, 1) + 1
