"""Jobs log to a server as they end; without one, or if it does not answer, they do their work all the same."""

import json
from types import SimpleNamespace

import pytest

from fedatlas.cli.main import main
from fedatlas.experiments.expansion import create_view
from fedatlas.experiments.specification import experiment
from fedatlas.publish import tracking
from fedatlas.publish.report.facts import build_facts
from fedatlas.workflow import LIVE
from fedatlas.workflow.graph import Graph
from fedatlas.workflow.study import Study
from tests.workflow.project import TINY

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
    """What jobs have logged: (name of the experiment, path of the run file, address)."""
    result = []
    monkeypatch.setattr(tracking, "log", lambda facts, folder, uri, path: result.append((facts["name"], path, uri)))
    return result


def run(folder, record=None):
    (folder / "spec.json").write_text(json.dumps({"cell": SPEC} | ({"about": record} if record else {})))
    return main(["job", "run", str(folder / "spec.json"), str(folder / "all.parquet")])


@pytest.fixture
def record_text():
    """What a job is told of its experiment, where there is a server."""
    result = experiment("tiny", "smoke", "tiny.yaml", {key: value for key, value in TINY.items() if key != "sizes"})
    return build_facts(result, create_view(result))


@pytest.mark.parametrize("uri", ["", "http://127.0.0.1:1"])
def test_a_job_logs_its_cell_if_there_is_a_server(tmp_path, monkeypatch, logged, record_text, uri):
    monkeypatch.setenv(LIVE, uri)
    assert run(tmp_path, record_text if uri else None) == 0
    assert logged == ([("tiny", str(tmp_path / "all.parquet"), uri)] if uri else [])


def test_a_server_that_does_not_answer_is_no_failure(tmp_path, monkeypatch, record_text, capsys):
    def refuse(*arguments):
        raise tracking.TrackingError("the server is down")

    monkeypatch.setattr(tracking, "log", refuse)
    monkeypatch.setenv(LIVE, "http://127.0.0.1:1")
    assert run(tmp_path, record_text) == 0
    assert "warning: the server is down; these runs will be logged when" in capsys.readouterr().out


def test_jobs_are_told_what_to_log_only_where_there_is_a_server(project, monkeypatch):
    monkeypatch.chdir(project.folder)
    w = SimpleNamespace(size="smoke", experiment="tiny", id="fedavg", key="all")
    for uri, is_live in (("sqlite:///results/mlflow.db", False), ("http://host:5000", True)):
        config = {"tour": [], "experiments": "all", "data": "data", "data_mirrors": [], "mlflow_uri": uri}
        assert ("about" in json.loads(Graph(Study(config)).specification("train", w))) == is_live
