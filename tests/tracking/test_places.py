"""Where runs are logged to: databases that jobs share, addresses, the user interface."""

import os

import pytest

from fedatlas.errors import UserError
from fedatlas.publish import tracking
from tests.tracking.tiny import EXPERIMENT, experiment_facts


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
