"""The record of what report and MLflow show besides numbers."""

import json

import pytest

from fedatlas.errors import UserError
from fedatlas.publish.report.record import ExperimentRecord
from fedatlas.publish.report.record_builder import build_record
from tests.report.made import experiment, view


def made(**changes):
    one = experiment(**changes)
    return build_record(one, view(one))


def test_the_record_survives_its_file(tmp_path):
    first = made()
    first.write(tmp_path / "made_up/about.json")
    assert ExperimentRecord.read(tmp_path / "made_up/about.json") == first
    assert ExperimentRecord.of(json.loads(json.dumps(first.plain()))) == first


def test_a_file_that_holds_the_record_is_left_alone(tmp_path):
    path = tmp_path / "about.json"
    made().write(path)
    before = path.stat()
    made().write(path)
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == (before.st_mtime_ns, before.st_ino)
    made(title="Another").write(path)
    assert ExperimentRecord.read(path).title == "Another"


@pytest.mark.parametrize("content", ["", "{}", "[]", "\xff", '{"paper": {}}'])
def test_other_files_are_refused(tmp_path, content):
    (tmp_path / "about.json").write_bytes(content.encode("latin-1"))
    with pytest.raises(UserError, match=r"about\.json does not describe an experiment"):
        ExperimentRecord.read(tmp_path / "about.json")


def test_what_is_known_of_an_experiment():
    found = made()
    assert (found.name, found.size, found.paper.key) == ("made_up", "smoke", "yuan2020")
    assert found.figures == {"speed": "Scores against M."}
    assert found.algorithms == {"fedavg": "FedAvg", "fedac-1": "FedAc-I"}
    assert (found.grid, found.axes, found.tune) == (["local_steps", "clients"], ["local_steps", "clients"], ["lr"])
    assert found.score == "best suboptimality"
    assert list(found.references) == list(found.bibtex) == found.cited
    assert found.tags["data"] == "breast_cancer" and found.tags["problem"] == "logistic"
    assert found.content["algorithms"]["fedac-1"]["tune"] == {} and found.content["name"] == "made_up"


def test_axes_of_run_files_are_told_from_those_inside():
    found = made(grid={"local_steps": [1, 8]}, within={"clients": [4]})
    assert (found.grid, found.axes) == (["local_steps"], ["local_steps", "clients"])


def test_parameters_say_where_values_come_from():
    mine = {"algorithm": "fedspeed", "set": {"lam": 5}, "tune": {"rho": [0.1, 0.2], "lr": None}, "label": "Mine"}
    found = {one.algorithm: one.rows for one in made(algorithms={"fedac-1": {}, "mine": mine}).parameters}
    assert [row[::2] for row in found["FedAc-I"]] == [["lr", "tuned: 0.1, 1"], ["mu", "the problem's"]]
    values = {row[0]: row[2] for row in found["Mine"]}
    assert values["lam"] == "5" and values["rho"] == "tuned: 0.1, 0.2" and values["alpha"] == "0.9375"


def test_a_hyper_parameter_that_is_an_axis_is_varied():
    found = made(algorithms={"fedspeed": {"set": {"lam": 5}}}, grid={"parameters.lam": [1, 5]})
    assert {row[0]: row[2] for row in found.parameters[0].rows}["lam"] == "varied"


def test_defaults_are_those_that_the_algorithms_declare():
    found = made(algorithms={"fedac-1": {}, "mine": {"algorithm": "fedspeed"}}).defaults
    assert found["fedac-1"] == {"mu": "the problem's"}
    assert found["mine"]["alpha"] == 0.9375 and "lr" not in found["mine"]


def test_setup_is_that_of_the_size():
    found = dict(made().setup)
    assert found["Problem"] == "logistic; data: breast_cancer; l2: 0.01"
    assert found["Varied"] == "local steps K in 1, 8; clients M in 4, 16, 64"
    assert found["Tuned"] == "lr in 0.1, 1"


def test_an_algorithm_that_cites_nothing_or_what_is_unknown(monkeypatch):
    from fedatlas.federation import algorithms

    monkeypatch.setattr(algorithms.get("fedavg"), "cite", "nobody2020")
    found = made()
    assert "nobody2020" in found.cited and "nobody2020" not in found.references
    monkeypatch.delattr(algorithms.get("fedavg"), "cite")
    assert made().cited[0] == "yuan2020" and len(made().cited) == 2
