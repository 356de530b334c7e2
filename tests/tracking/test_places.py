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
from fedatlas.publish.tracking import connection as store
from fedatlas.publish.tracking import sqlite
from tests.tracking.tiny import EXPERIMENT, experiment_record, logged, run_files


def test_a_database_whose_making_was_cut_off_is_made_again(tmp_path):
    class Killed(BaseException):
        pass

    path = tmp_path / "mlflow.db"

    def make(uri):
        sqlite3.connect(uri.removeprefix("sqlite:///")).execute("CREATE TABLE experiments (name TEXT)")
        raise Killed

    with pytest.raises(Killed), sqlite.open_for_writing(path, make):
        pass
    assert [item.name for item in tmp_path.iterdir()] == [".mlflow.db.lock"]
    path.touch()  # an empty file is none either
    with store.connect(f"sqlite:///{path}") as client:
        assert [e.name for e in client.search_experiments()] == ["Default"]
    assert not list(tmp_path.glob(".tmp-*"))


def _log_as(name, directory, uri):
    tracking.log(experiment_record(EXPERIMENT, name=name), directory, uri, run_files(directory, "fedac"))


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
        _, parents, children = logged(uri, name)
        assert (len(parents), len(children)) == (1, 8)


@pytest.mark.parametrize(
    ("uri", "message"),
    [
        ("http://127.0.0.1:9", "does not answer"),
        ("sqlite:///{}/file/mlflow.db", "cannot write"),
        ("sqlite:///{}/file", "cannot write .*not a database"),
    ],
)
def test_wrong_addresses(results, tmp_path, uri, message):
    (tmp_path / "file").write_text("This is no database, but long enough to be taken for one. " * 20)
    with pytest.raises(UserError, match=message):
        tracking.log(experiment_record(EXPERIMENT), results, uri.format(tmp_path), run_files(results))


def test_user_interface(tmp_path, monkeypatch, capsys):
    with pytest.raises(UserError, match=r"there is no .*mlflow\.db yet: run `snakemake"):
        tracking.serve_ui(f"sqlite:///{tmp_path}/mlflow.db")
    with store.connect(f"sqlite:///{tmp_path}/mlflow.db"):
        pass
    called = {}

    class Server:  # answers at once, and stops
        returncode = 0

        def __init__(self, command, env):
            called.update(command=command, env=env)

        poll = terminate = wait = lambda self: None

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
        store.retry_once(act)
    assert len(attempts) == min(refusals, 1) + 1
