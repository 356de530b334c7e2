"""The facts of an experiment that report and MLflow show besides numbers, and q-values of its claims."""

import pytest

from fedatlas.publish.report.facts import add_q_values, build_facts
from tests.report.sample import experiment, view

NOTHING = "Nothing is tuned: all hyper-parameters have the values of the experiment's file."


def create(**changes):
    spec = experiment(**changes)
    return build_facts(spec, view(spec))


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
    assert list(facts["references"]) == list(facts["bibtex"])
    assert facts["tags"]["data"] == "breast_cancer" and facts["tags"]["problem"] == "logistic"
    assert facts["content"]["algorithms"]["fedac-1"]["tune"] == {} and facts["content"]["name"] == "made_up"


def test_the_setup_names_own_data_as_the_file_does(monkeypatch):
    spec = experiment()
    monkeypatch.setitem(spec.problem, "data", "mine.v2+0123456789")
    monkeypatch.setattr("fedatlas.publish.report.facts.citation_keys", lambda _: [])
    assert "data: mine.v2," in dict(build_facts(spec, view(experiment()))["setup"])["problem"]


def test_an_algorithm_that_cites_nothing(monkeypatch):
    from fedatlas.federation.algorithms import ALGORITHMS

    monkeypatch.delattr(ALGORITHMS.get("fedavg"), "cite")
    assert next(iter(create()["references"])) == "yuan2020" and len(create()["references"]) == 2


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


def test_q_values_are_of_a_family_and_of_the_claims_with_a_test():
    claims = [{"paper": paper, "p": p} for paper, p in (("a", "0.01"), ("a", ""), ("a", "0.04"), ("b", "0.04"))]
    add_q_values(claims, lambda row: row["paper"])
    assert [row["q"] for row in claims] == ["0.02", "", "0.04", "0.04"]
    untested = [{"p": ""}]
    add_q_values(untested, lambda row: "a")
    assert untested == [{"p": "", "q": ""}]
