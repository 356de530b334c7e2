"""Figures and tables that compare algorithms over problems."""

import math
import re

import numpy as np
import pandas as pd
import pytest

from fedatlas.errors import UserError
from fedatlas.experiments.cells import Select
from fedatlas.experiments.view import AlgorithmView, ExperimentView
from fedatlas.federation.algorithms import ALGORITHMS

from .drawings import describe, texts_of

CASES = ["one local step", "many local steps", "10 % active"]


# rounds to the share e^-5 of the first value by algorithm and case; None: without runs
SPEED = {"fedavg": [100, 100, 100], "scaffold": [50, 50, None], "feddyn": [58, 120, 400], "fedprox": [400, 400, 400]}


def view(ids=tuple(SPEED), metric="suboptimality", goal="min", seeds=4):
    entries = {id: AlgorithmView(id, ALGORITHMS.get(id).label) for id in ids}
    select = Select(metric=metric, statistic="best", goal=goal)
    return ExperimentView("land", "smoke", ["case"], [], select, {"kind": "logistic"}, {}, list(range(seeds)), entries)


def curves(speeds=SPEED, cases=CASES, seeds=4, noise=0.05, rounds=200):
    """Exponential decays; FedDyn's speed is noisy, FedProx never attains e^-5."""
    rng, at, rows = np.random.default_rng(0), np.arange(0, rounds + 1, 2), []
    for id, speed in speeds.items():
        for case, rounds_to_share in zip(cases, speed, strict=True):
            for seed in range(seeds) if rounds_to_share else ():
                rate = 5 / rounds_to_share * math.exp((0.3 if id == "feddyn" else noise) * rng.standard_normal())
                part = pd.DataFrame({"algorithm": id, "case": case, "seed": seed, "round": at, "status": "ok"})
                rows.append(part.assign(suboptimality=8 * np.exp(-rate * at), gradients=3.0 * at, seconds=at / 10))
    return pd.concat(rows, ignore_index=True)


@pytest.fixture(scope="module")
def results():
    return None, curves(), view()


PROFILE = {"kind": "performance_profile"}


LOSS = {"kind": "loss_to_best"}


def test_every_point_of_the_axes_is_a_problem(results):
    numbers, chart = describe({**PROFILE, "shares": [math.exp(-5)]}, results)
    shares = numbers.groupby("algorithm")["share"]
    assert shares.last().to_dict() == pytest.approx({"fedavg": 1, "scaffold": 2 / 3, "feddyn": 2 / 3, "fedprox": 0})
    assert 1 <= shares.first().sum() < 1.7 and (numbers["problems"] == 3).all()
    assert (numbers["low"] <= numbers["share"]).all() and (numbers["share"] <= numbers["high"]).all()
    assert {line.name for line in chart.lines.values()} == {"FedAvg", "FedDyn", "FedProx", "SCAFFOLD"}
    assert (chart.steps, chart.limits, numbers["x"].min(), numbers["x"].max()) == (True, (0, 1), 1, 16)
    assert "3 problems, 4 seeds." in chart.note and "suboptimality is 0.674 % of its first value" in chart.note


def test_the_loss_to_the_best_has_the_state_of_each_algorithm_on_each_problem(results):
    numbers, chart = describe({**LOSS, "share": math.exp(-5)}, results)
    table = numbers.set_index(["algorithm", "case"])
    near = table["near"].unstack("case")[CASES]
    assert near.loc["scaffold"].tolist() == [True, True, False] and near.loc["feddyn", CASES[0]]
    assert near.loc["fedavg"].tolist() == [False, False, True] and not near.loc["fedprox"].any()
    gap = table.loc[("fedavg", CASES[0])]
    assert gap["low"] < 2 < gap["high"] and (gap["attained"], gap["seeds"]) == (4, 4)
    heads, rows = texts_of(chart)
    assert heads == CASES and list(rows)[-1] == "FedProx" and rows["FedProx"] == ["–"] * 3
    assert rows["SCAFFOLD"] == ["1", "1", ""]
    assert [cell.bold for cell in dict(chart.blocks[0][1])[("SCAFFOLD",)]] == [True, True, False]


def test_a_cell_says_with_how_many_seeds_a_target_is_attained(results):
    rows = results[1][results[1]["case"] == CASES[0]]
    worst = float(rows.loc[rows["algorithm"] == "scaffold", "suboptimality"].min())
    alone = rows.assign(suboptimality=rows["suboptimality"].where(rows["suboptimality"] <= 1.01 * worst, 8.0))
    numbers, chart = describe({**LOSS, "share": 1.005 * worst / 8}, (None, alone, results[2]))
    best = numbers[numbers["near"]].iloc[0]
    assert (best["attained"], best["seeds"], best["algorithm"], best["loss"]) == (1, 4, "scaffold", 1)
    assert texts_of(chart)[1]["FedProx"] == ["–"]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({**PROFILE, "shares": [0.1, 1.0]}, "each entry is a number larger than 0, less than 1"),
        ({**LOSS, "where": {"case": "nowhere"}}, "no rows are left to draw"),
    ],
)
def test_options_that_do_not_fit(spec, message, results):
    with pytest.raises(UserError, match=re.escape(message)):
        describe(spec, results)
