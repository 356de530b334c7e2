"""Jobs log to a server as they end; without one, or if it does not answer, they do their work all the same."""

import json

import pytest

from fedatlas import tracking
from fedatlas.cli import main
from fedatlas.errors import UserError
from fedatlas.workflow import jobs
from fedatlas.workflow.atlas import LIVE, Atlas

SPEC = {
    "algorithm": "fedavg",
    "parameters": {"lr": 0.1},
    "problem": {"kind": "quadratic", "dim": 3},
    "setting": {"clients": 2, "rounds": 2},
    "within": {},
    "tune": {},
    "seeds": [0],
    "optimum": False,
}


@pytest.fixture
def logged(monkeypatch):
    """Cells that jobs have logged."""
    found = []

    class Here:
        experiment = staticmethod(lambda size, name: {"name": name, "size": size})
        cells = staticmethod(lambda size, name: {("fedavg", "all"): "the cell"})

    monkeypatch.setattr(jobs, "here", Here)
    monkeypatch.setattr(tracking, "live", lambda *arguments: found.append(arguments))
    return found


def run(folder):
    out = str(folder / "all.parquet")
    return main(["job", "run", json.dumps(SPEC), out, "--cell", "smoke", "tiny", "fedavg", "all"])


@pytest.mark.parametrize("uri", ["", "http://127.0.0.1:1"])
def test_a_job_logs_its_cell_if_there_is_a_server(tmp_path, monkeypatch, logged, uri):
    monkeypatch.setenv(LIVE, uri)
    assert run(tmp_path) == 0
    expected = ({"name": "tiny", "size": "smoke"}, "the cell", str(tmp_path / "all.parquet"), uri)
    assert logged == ([expected] if uri else [])


def test_a_server_that_does_not_answer_is_no_failure(tmp_path, monkeypatch, logged, capsys):
    def refuse(*arguments):
        raise UserError("the server is down")

    monkeypatch.setattr(tracking, "live", refuse)
    monkeypatch.setenv(LIVE, "http://127.0.0.1:1")
    assert run(tmp_path) == 0
    assert "warning: the server is down; these runs will be logged when" in capsys.readouterr().out


@pytest.mark.parametrize("uri, live", [("sqlite:///results/mlflow.db", ""), ("http://host:5000", "http://host:5000")])
def test_only_servers_take_many_writers(tmp_path, uri, live):
    config = {"tour": [], "experiments": "all", "data": "data", "data_mirrors": [], "mlflow_uri": uri}
    assert Atlas(config, tmp_path).environment()[LIVE] == live
