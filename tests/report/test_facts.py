"""The record of what report and MLflow show besides numbers."""

import pytest

from fedatlas.errors import UserError
from fedatlas.publish.report.facts import read_facts
from fedatlas.publish.report.facts_builder import build_facts
from tests.report.sample import experiment, view

NOTHING = "Nothing is tuned: all hyper-parameters have the values of the experiment's file."


def create(**changes):
    spec = experiment(**changes)
    return build_facts(spec, view(spec))


@pytest.mark.parametrize("content", ["", "{}", "[]", "\xff", '{"paper": {}}'])
def test_other_files_are_refused(tmp_path, content):
    (tmp_path / "about.json").write_bytes(content.encode("latin-1"))
    with pytest.raises(UserError, match=r"about\.json (does not (describe|hold)|is not text)"):
        read_facts(tmp_path / "about.json")


def test_what_is_known_of_an_experiment():
    facts = create()
    assert (facts["name"], facts["size"], facts["paper"]["key"]) == ("made_up", "smoke", "yuan2020")
    assert facts["figures"] == {"speed": "Scores against M."}
    assert facts["algorithms"] == {"fedavg": "FedAvg", "fedac-1": "FedAc-I"}
    assert (facts["grid"], facts["axes"], facts["tune"]) == (
        ["local_steps", "clients"],
        ["local_steps", "clients"],
        ["lr"],
    )
    assert facts["score"] == "best suboptimality"
    assert list(facts["references"]) == list(facts["bibtex"]) == facts["cited"]
    assert facts["tags"]["data"] == "breast_cancer" and facts["tags"]["problem"] == "logistic"
    assert facts["content"]["algorithms"]["fedac-1"]["tune"] == {} and facts["content"]["name"] == "made_up"


def test_axes_of_run_files_are_told_from_those_inside():
    facts = create(grid={"local_steps": [1, 8]}, within={"clients": [4]})
    assert (facts["grid"], facts["axes"]) == (["local_steps"], ["local_steps", "clients"])


def test_defaults_are_those_that_the_algorithms_declare():
    facts = create(algorithms={"fedac-1": {}, "mine": {"algorithm": "fedspeed"}})["defaults"]
    assert facts["fedac-1"] == {"mu": "the problem's"}
    assert facts["mine"]["alpha"] == 0.9375 and "lr" not in facts["mine"]


def test_setup_is_that_of_the_size():
    facts = dict(create()["setup"])
    assert facts["Problem"] == "logistic; data: breast_cancer; l2: 0.01"
    assert facts["Varied"] == "local steps K in 1, 8; clients M in 4, 16, 64"
    assert facts["Tuned"] == "lr in 0.1, 1"


def test_an_algorithm_that_cites_nothing_or_what_is_unknown(monkeypatch):
    from fedatlas.federation import algorithms

    monkeypatch.setattr(algorithms.get("fedavg"), "cite", "nobody2020")
    facts = create()
    assert "nobody2020" in facts["cited"] and "nobody2020" not in facts["references"]
    monkeypatch.delattr(algorithms.get("fedavg"), "cite")
    assert create()["cited"][0] == "yuan2020" and len(create()["cited"]) == 2


@pytest.mark.parametrize(
    ("tune", "entries", "sentence"),
    [
        ({"lr": [0.1, 1]}, {"fedavg": {}, "fedac-1": {}}, "All algorithms are tuned, on the tuning seed 1000."),
        (
            {"lr": [0.1, 1]},
            {"fedavg": {"tune": {"lr": None}, "set": {"lr": 0.1}}, "fedac-1": {}},
            "Tuned, on the tuning seed 1000: FedAc-I. With the values of the experiment's file: FedAvg.",
        ),
        ({}, {"fedavg": {"set": {"lr": 0.1}}}, NOTHING),
        ({"lr": [0.1]}, {"fedavg": {}}, NOTHING),
    ],
)
def test_it_says_what_is_tuned(tune, entries, sentence):
    select = {"metric": "suboptimality", "statistic": "best", "goal": "min", "seeds": [1000]}
    assert create(tune=tune, algorithms=entries, select=select)["tuning"] == sentence
