"""The check of quantities between bounds: scores, in every round too, spreads, vectors, distances of runs, choices."""

import math

import pytest

from fedatlas.experiments.view import AlgorithmView
from fedatlas.results.claims.verdicts import HELD, NOT_HELD, NOT_TESTED
from tests.synthetic import curves, rows, table

from .fixtures import judged, verdict, view

SPREAD = {"kind": "reaches", "quantity": "spread", "algorithms": ["fedsps"]}
SCORES = {("fedsps", k, c): 1 + (c - k / 10) ** 2 for k in (5, 10, 20) for c in (0.5, 1.0, 2.0)}


MADE = view(["fedsps"], ["local_steps"], metric="loss", tune=["c"])


def of_trials(scores, **options):
    result = judged(MADE, rows(scores), **options)
    return result["verdict"], result["ours"]


@pytest.mark.parametrize(
    "options, expected",
    [
        ({"at_most": 4.3}, HELD),
        ({"at_most": 2}, NOT_HELD),
        ({"at_least": 2.5}, NOT_HELD),
        ({"at_most": 2, "where": {"local_steps": 10}}, HELD),
        ({"at_least": 2, "where": {"local_steps": 20}}, HELD),
        ({"at_most": 2, "where": {"local_steps": 40}}, NOT_TESTED),
    ],
)
def test_spread(options, expected):
    assert of_trials(SCORES, **SPREAD, **options)[0] == expected


PROPORTION = {"kind": "reaches", "algorithms": ["fedsps"], "metric": "apart", "of": "loss", "statistic": "final"}
LINES = curves([("fedsps", 5, seed, [(0, 9.0), (4, 2.0)]) for seed in (0, 1)], ("local_steps",), "loss").assign(
    apart=0.2, status="ok"
)


@pytest.mark.parametrize("at_most, expected", [(0.101, HELD), (0.05, NOT_HELD)])
def test_proportion(at_most, expected):
    result = judged(MADE, rows({("fedsps", 5, 0.5): 1}), LINES, **PROPORTION, at_most=at_most)
    assert (result["verdict"], result["ours"]) == (expected, "FedSPS: last apart / training loss 0.1 at K = 5")


PIECEWISE = {"kind": "piecewise", "kappa": 100, "steps": 30}


def accelerated():
    entries = {"agd": AlgorithmView("agd", "AGD"), "fedac-1": AlgorithmView("fedac-1", "FedAc-I", set={"lr": "1/L"})}
    setting = {"clients": 1, "local_steps": 15, "steps": 30, "batch": None}
    return view(tuple(entries), ("clients",), tune=(), algorithms=entries, problem=PIECEWISE, setting=setting)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"algorithms": ["agd"], "quantity": "growth", "at_least": 1}, HELD),
        ({"algorithms": ["agd"], "quantity": "distance", "at_most": 1}, NOT_HELD),
        ({"algorithms": ["fedac-1"], "quantity": "growth", "at_least": 1}, NOT_HELD),
        ({"algorithms": ["fedac-1"], "quantity": "distance", "at_most": 1}, HELD),
    ],
)
def test_accelerated_descent_drifts_apart_and_fedac_does_not(options, expected):
    lines = [(id, 1, 0, [(0, 1.0), (2, 0.5)]) for id in ("agd", "fedac-1")]
    rows = [(id, 1, 0.5) for id in ("agd", "fedac-1")]
    assert verdict(rows, ("clients",), accelerated(), lines, kind="reaches", **options)[0] == expected


IDS = ("fedawe", "fedavg", "mifa", "scaffold")
PROBLEM = {"kind": "quadratic", "centers": [[0.0, 0.0], [1.0, 1.0]]}


def experiment():
    entries = {id: AlgorithmView(id, id, set={"lr": 0.1}) for id in IDS}
    setting = {"clients": 2, "local_steps": 1, "rounds": 1, "batch": None}
    return view(IDS, ("clients",), "suboptimality", tune=(), algorithms=entries, problem=PROBLEM, setting=setting)


@pytest.mark.parametrize(
    ("options", "expected", "words"),
    [
        ({"algorithms": ["fedawe"]}, HELD, "between rounds 1"),
        ({"algorithms": ["scaffold"], "at_most": 0}, NOT_HELD, "between rounds 1"),
        ({"algorithms": ["fedavg"], "at_most": 0}, HELD, "between rounds 0"),
    ],
)
def test_vectors_that_are_kept_for_a_client_are_counted(options, expected, words):
    lines = [(id, 2, 0, [(0, 1.0), (1, 0.5)]) for id in IDS]
    rows = [(id, 2, 0.5) for id in IDS]
    outcome = verdict(
        rows, ("clients",), experiment(), lines, kind="reaches", quantity="vectors", **{"at_most": 1, **options}
    )
    assert outcome[0] == expected and words in outcome[1]


ROUNDS = [("fedavg", 4, 0, [(0, math.nan), (1, 2.0), (2, 0.5)]), ("fedavg", 8, 1, [(0, math.nan), (1, 1.0), (2, 0.25)])]


def in_every_round(**options):
    frame = curves(ROUNDS)
    frame["loss"], frame["status"] = 2 * frame["suboptimality"], options.pop("status", "ok")
    options = {"kind": "reaches", "quantity": "every", "algorithms": ["fedavg"], "metric": "suboptimality"} | options
    result = judged(view(), table([("fedavg", 4, 1), ("fedavg", 8, 1)]), frame, **options)
    return result["verdict"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"at_least": 0.25}, HELD),
        ({"at_least": 0.25 * (1 + 1e-12)}, HELD),  # rounding error
        ({"at_least": 0.26}, NOT_HELD),
        ({"at_least": 0.26, "where": {"clients": 4}}, HELD),
        ({"at_most": 2}, HELD),
        ({"at_most": 1.9}, NOT_HELD),
        ({"of": "loss", "at_least": 0.5, "at_most": 0.5}, HELD),
        ({"of": "loss", "at_least": 0.6}, NOT_HELD),
        ({"at_most": 9, "status": "diverged"}, NOT_HELD),
        ({"metric": "accuracy", "at_most": 1}, NOT_TESTED),
    ],
)
def test_every_round(options, expected):
    assert in_every_round(**options) == expected


def judge_values(values, chosen):
    """The claim that ``values`` win where those of ``chosen`` do, by number of clients."""
    frame = table([("fedavg", clients, 0.1) for clients in chosen])
    frame["lr"], frame["server_lr"] = chosen.values(), 1.0
    frame["tuning_seeds"] = 3
    return judged(
        view(tune=("lr", "server_lr")), frame, kind="reaches", quantity="choice", algorithms=["fedavg"], values=values
    )


@pytest.mark.parametrize(
    ("chosen", "expected"), [({4: 0.1, 16: 0.1}, HELD), ({4: 0.1, 16: 0.2}, NOT_HELD), ({4: 1.0}, NOT_HELD)]
)
def test_the_choices_of_all_settings_count(chosen, expected):
    row = judge_values({"lr": 0.1, "server_lr": 1}, chosen)
    assert (row["verdict"], row["seeds"]) == (expected, 3)
    assert f"{next(iter(chosen.values())):g}" in row["ours"]
