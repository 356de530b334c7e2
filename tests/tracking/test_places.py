"""Where runs are logged to: databases that jobs share, addresses, the user interface."""

import multiprocessing
import os
import re

import pytest

from fedatlas.errors import UserError
from fedatlas.publish import tracking
from tests.tracking.tiny import EXPERIMENT, LOGGED, SEEDS, experiment_facts, logged


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
