"""Algorithms that failed with values that nobody tuned."""

import dataclasses
import math

from fedatlas.experiments.view import Claim
from fedatlas.results.claims.results import Results
from fedatlas.results.claims.verdicts import HELD, UNTESTED
from fedatlas.workflow.jobs.claims import judge_claims
from tests.synthetic import curves_of, table

from .fixtures import view


def judge(rows, check, untuned=("fedavg",), metric="test_accuracy", goal="max", classes=10):
    experiment = view(metric=metric, goal=goal, problem={"kind": "network", "data": "mnist"})
    algorithms = {
        id: dataclasses.replace(entry, untuned=["lr"] if id in untuned else [])
        for id, entry in experiment.algorithms.items()
    }
    experiment = dataclasses.replace(experiment, algorithms=algorithms)
    frame = table(rows, ("clients",), metric)
    lines = curves_of(rows, ("clients",), metric, goal)
    lines[metric] = lines.groupby(["algorithm", "clients", "seed"])[metric].transform("first")
    results = Results(experiment, frame, lines, frame, {"mnist": classes})
    return judge_claims({"it": Claim(text="t", source="s", check=check)}, results).iloc[0]


BETTER = {"kind": "better", "algorithm": "fedac-1", "than": ["fedavg"]}
DROP = {"kind": "drop", "algorithms": ["fedavg"], "axis": "clients", "start": 4, "end": 16, "above": 0}


def test_the_level_of_guessing_follows_from_the_classes():
    rows = [("fedac-1", 4, [1.0, 1.1]), ("fedavg", 4, [2.3, 2.31])]
    assert judge(rows, BETTER, metric="loss", goal="min")["verdict"] == UNTESTED  # log 10 = 2.303
    assert judge(rows, BETTER, metric="loss", goal="min", classes=100)["verdict"] == HELD
    assert judge(rows, BETTER, metric="loss", goal="min", classes=0)["verdict"] == HELD


def test_a_loss_along_an_axis_of_what_diverged():
    rows = [("fedavg", 4, [0.6, 0.62]), ("fedavg", 16, [-math.inf, 0.3])]
    assert judge(rows, DROP)["verdict"] == UNTESTED
    assert judge(rows, DROP, untuned=())["verdict"] == HELD
