"""Where runs are logged to: databases that jobs share, addresses, the user interface."""

import multiprocessing
import os
import re
import sqlite3

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
        ("sqlite:///{}/file/mlflow.db", "MLflow cannot log to"),
        ("sqlite:///{}/file", "cannot write .*is not a database of MLflow"),
    ],
)
def test_wrong_addresses(results, tmp_path, uri, message):
    (tmp_path / "file").write_text("This is not a database, but long enough to be taken for one. " * 20)
    with pytest.raises(UserError, match=message):
        tracking.log(experiment_facts(EXPERIMENT), results, uri.format(tmp_path))


def test_user_interface(results, tmp_path, monkeypatch, capsys):
    uri = f"sqlite:///{tmp_path}/mlflow.db"
    with pytest.raises(UserError, match=r"there is no .*mlflow\.db yet: run `fedatlas track"):
        tracking.serve_ui(uri)
    tracking.log(experiment_facts(EXPERIMENT), results, uri)
    calls = []
    monkeypatch.setattr(os, "execve", lambda *arguments: calls.append(arguments))
    tracking.serve_ui(uri, 5432)
    first, second, _ = capsys.readouterr().out.splitlines()
    assert first == "MLflow: http://127.0.0.1:5432/#/experiments?workflowType=machine_learning"
    assert re.fullmatch(r"  tiny, smoke: http://127.0.0.1:5432/#/experiments/\d+/runs\?viewState.*smoke&.*", second)
    ((_, command, environment),) = calls
    assert command[1:4] == ["-m", "mlflow", "ui"] and {"5432", uri, f"{tmp_path}/mlartifacts"} <= {*command}
    assert environment["MLFLOW_SERVER_ENABLE_JOB_EXECUTION"] == "false"
