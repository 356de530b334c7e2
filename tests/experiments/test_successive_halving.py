"""Successive halving: the choice of the paper's pseudocode, what it spends, and interrupted searches."""

import dataclasses
import itertools
import math

import numpy as np
import pytest
import yaml

from fedatlas.errors import UserError
from fedatlas.experiments import expansion, experiment_file, result_files, runs, tables
from fedatlas.experiments.cells import CellSpec, Select
from fedatlas.experiments.dependencies import run_file_modules
from fedatlas.experiments.run import run_cell
from fedatlas.experiments.runs import Search
from fedatlas.experiments.tuning import TUNING_RULES, Outcomes
from fedatlas.experiments.tuning.successive_halving import rung_rounds, rung_sizes
from tests.experiments.stopping import assert_same_bits_in_pieces
from tests.transcriptions.successive_halving import successive_halving

SELECT = Select(metric="loss", statistic="final", goal="min", seeds=[1000, 1001])
SPEC = CellSpec(
    "fedavg",
    {},
    {"kind": "quadratic", "dim": 3, "heterogeneity": 1.0},
    {"clients": 4, "rounds": 16, "batch": None, "eval_rounds": 1},
    within={"local_steps": [1, 2]},
    tune={"lr": [0.0001, 0.001, 0.01, 0.1, 0.5]},
    select=SELECT,
    tuning={"kind": "successive_halving"},
)


def simulated(count, seed):
    """Losses of arms by rounds: random curves that cross."""
    draws = np.random.default_rng(seed)
    ends, speeds = draws.random(count), draws.uniform(0.01, 0.5, count)
    return [
        lambda rounds, end=end, speed=speed: end + np.exp(-speed * rounds)
        for end, speed in zip(ends, speeds, strict=True)
    ]


def search_over(losses, rounds):
    """The finished search of the rule over arms with these losses."""
    rule = TUNING_RULES.build("successive_halving")
    spec = dataclasses.replace(
        SPEC, within={}, tune={"lr": list(range(1, len(losses) + 1))}, setting={**SPEC.setting, "rounds": rounds}
    )

    def evaluations(trial, seed):
        loss = losses[trial.point["lr"] - 1](trial.rounds)
        return [{"round": at, "loss": loss, "status": "ok"} for at in (0, trial.rounds)]

    search = runs.initial_searches(spec)[0]
    while search.chosen is None:
        search = rule.advance(search, Outcomes(spec, evaluations, lambda point: True))
    return search


@pytest.mark.parametrize("count", [2, 3, 5, 8, 13, 27])
def test_the_choice_is_that_of_the_papers_pseudocode(count):
    iterations = math.ceil(math.log2(count))
    for seed, rounds in itertools.product(range(5), (57, 160)):
        losses, budget = simulated(count, seed), 2 * rounds * iterations  # of which each of the last two takes a half
        while successive_halving(losses, budget)[1][-1] > rounds:
            budget -= 1
        arm, stops, sets = successive_halving(losses, budget)
        search = search_over(losses, stops[-1])
        assert search.chosen == {"lr": arm + 1}
        rungs = [list(trials) for _, trials in itertools.groupby(search.rungs, key=lambda trial: trial.rung)]
        assert [[trial.point["lr"] - 1 for trial in rung] for rung in rungs] == sets
        assert [[trial.rounds for trial in rung] for rung in rungs] == [
            [stop] * len(S) for stop, S in zip(stops, sets, strict=True)
        ]


def test_the_last_rung_takes_all_rounds():
    for count, most in itertools.product((2, 3, 7, 8, 20), (1, 2, 16, 100, 997)):
        stops = rung_rounds(rung_sizes(count), most)
        assert stops == sorted(stops) and stops[0] >= 1 and stops[-1] == most


def test_a_run_file_holds_the_runs_of_all_rungs_and_what_they_cost(tmp_path):
    path = tmp_path / "fedavg/all.parquet"
    run_cell(SPEC, path)
    frame, plain = result_files.read(path)
    ends = frame.groupby(["local_steps", "lr", "rung", "seed"])["round"].max()
    for search in plain["searches"]:
        steps = search["within"]["local_steps"]
        for trial in search["rungs"]:
            assert (ends[steps, trial["point"]["lr"], trial["rung"]] == trial["rounds"]).all()
        spent = frame[(frame["local_steps"] == steps) & (frame["rung"] > 0)].groupby(["lr", "rung", "seed"])["round"]
        assert spent.max().sum() == len(search["seeds"]) * sum(trial["rounds"] for trial in search["rungs"])
        assert (ends[steps, search["chosen"]["lr"], 0] == 16).all()
        assert Search.from_dict(search).to_dict() == search
    table = tables.build([], SELECT, [path]).table
    assert table["lr"].tolist() == SPEC.tune["lr"] * 2
    long = dataclasses.replace(SPEC, tuning=None)
    run_cell(long, tmp_path / "grid/all.parquet")
    grid = tables.build([], SELECT, [tmp_path / "grid/all.parquet"]).table
    assert "rung" not in result_files.read(tmp_path / "grid/all.parquet")[0]
    pairs = table[table["chosen"]].merge(grid, on=["local_steps", "lr"])
    assert (pairs["tuning_score_x"] == pairs["tuning_score_y"]).all()  # the last rung has all rounds


def test_a_search_that_was_stopped_goes_on_to_the_same_bits(tmp_path, monkeypatch):
    assert_same_bits_in_pieces(SPEC, tmp_path, monkeypatch, 3)


EXPERIMENT = {
    "title": "T", "paper": "yuan2020", "source": "S", "problem": {"kind": "quadratic", "dim": 3},
    "setting": {"clients": 2, "rounds": 8, "batch": None}, "tune": {"lr": [0.01, 0.1, 1.0]},
    "select": {"metric": "loss", "statistic": "best", "goal": "min"},
    "algorithms": {"fedavg": None, "fixed": {"algorithm": "fedavg", "set": {"lr": 0.1}, "tune": {"lr": None}}},
    "sizes": {"smoke": {}},
}  # fmt: skip


def cells(tmp_path, **keys):
    path = tmp_path / "e.yaml"
    path.write_text(yaml.safe_dump(EXPERIMENT | keys))
    return {cell.id: cell.spec for cell in expansion.cells(experiment_file.load(path, "smoke"))}


def test_an_experiment_names_the_rule(tmp_path):
    plain = cells(tmp_path)
    assert all("tuning" not in spec.to_dict() for spec in plain.values())
    entries = cells(tmp_path, tuning="successive_halving")
    assert entries["fixed"] == plain["fixed"] and entries["fedavg"].tuning == {"kind": "successive_halving"}
    assert CellSpec.from_dict(entries["fedavg"].to_dict()) == entries["fedavg"]
    rules = {name.rpartition(".")[2] for name in run_file_modules(entries["fedavg"]) if ".tuning." in name}
    assert rules == {"successive_halving"}
    draws = cells(tmp_path, tuning="successive_halving", trials=4, tune={})
    assert draws["fedavg"].space and draws["fedavg"].tuning == {"kind": "successive_halving"}


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("halving", "unknown tuning rule 'halving'"),
        ("trials", "tuning: trials follows from tune or trials"),
    ],
)
def test_a_rule_that_does_not_fit_is_refused(tmp_path, rule, words):
    with pytest.raises(UserError, match=words):
        cells(tmp_path, tuning=rule)
