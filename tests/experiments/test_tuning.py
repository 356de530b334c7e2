"""Tuned values are compared on tuning seeds, axes are continued, and the best value is scored on other seeds."""

import dataclasses
import math

import numpy as np
import pandas as pd
import pytest

from fedatlas import UserError
from fedatlas.api.train import train
from fedatlas.experiments import expansion, run
from fedatlas.experiments import result_files as files
from fedatlas.experiments.cells import CellSpec, Select
from fedatlas.experiments.runs import RunMeta, runs
from fedatlas.experiments.tables import build
from fedatlas.experiments.tuning.grid import next_value
from fedatlas.registry.options import Option
from tests.experiments.test_config import GOOD, load

ANY = Option("x", float, 0.1, doc="any number")


WHOLE = Option("x", int, 1, doc="a whole number", low=1)


SELECT = Select(metric="loss", statistic="final", goal="min", seeds=[7, 8], extend=2, last=2)


SPEC = CellSpec(
    algorithm="fedavg",
    parameters={},
    problem={"kind": "quadratic", "dim": 4, "L": 10.0, "noise": 0.3, "heterogeneity": 1.0},
    setting={"clients": 3, "rounds": 12, "batch": 2, "eval_rounds": 2},
    within={"local_steps": [1, 4]},
    tune={"lr": [0.001, 0.004], "server_lr": [0.5, 1]},
    seeds=[0, 1],
    select=SELECT,
)


def rows_of(path):
    frame, meta = files.read(path)
    return frame.drop(columns="seconds"), RunMeta.from_dict(meta)


@pytest.mark.parametrize(
    ("axis", "best", "expected"),
    [
        ([0.01, 0.1, 1], 1, 10.0),
        ([1, 0.1, 0.01], 0.01, 0.001),
        ([0.01, 0.1, 1], 0.1, None),
        ([0.03, 0.06, 0.12, 0.24], 0.24, 0.48),
        ([1, 10, 100], 100, 1000),
        (["1/L", "0.1/L"], "0.1/L", "0.01/L"),
        (["delta_A", "2*delta_A"], "2*delta_A", "4*delta_A"),
        (["1/L", "1/mu"], "1/mu", None),
        (["1/L", 0.1], "1/L", None),
        ([0, 0.1, 1], 0, None),
        ([0, 0.1, 1], 1, 10.0),
        ([0, 1], 1, None),
        ([-1, 1], -1, None),
        ([True, False], True, None),
        (["mean", "random"], "mean", None),
        ([None, 1, 10], 10, None),
        ([0.5], 0.5, None),
        ([1e200, 1e308], 1e308, None),
    ],
)
def test_the_next_value_of_an_axis(axis, best, expected):
    result = next_value(axis, axis, best, ANY, 3)
    assert result == expected and type(result) is type(expected)


def test_a_value_beyond_the_range_of_the_option_is_none():
    share = dataclasses.replace(ANY, above=0, high=1)
    assert next_value([0.1, 0.5], [0.1, 0.5], 0.5, share, 3) is None
    assert next_value([0.1, 0.2], [0.1, 0.2], 0.2, share, 3) == 0.4
    assert next_value([1, 2, 5], [1, 2, 5], 1, WHOLE, 3) is None
    assert next_value([5, 10, 50], [5, 10, 50], 50, WHOLE, 3) == 250
    assert next_value([2, 3], [2, 3], 3, WHOLE, 3) == 5


def test_a_cell_whose_axis_is_continued_is_the_cell_of_the_whole_axis(tmp_path):
    """Its values, scores and bits are those of a loop over `train`, and of a cell that is given all values at once."""
    values = [0.0005, 0.002, 0.008, 0.032, 0.128, 0.512]
    setting = {**SPEC.setting, "local_steps": 4}
    spec = dataclasses.replace(SPEC, setting=setting, within={}, tune={"lr": values[:2]})
    spec = dataclasses.replace(spec, select=dataclasses.replace(SELECT, extend=4))
    whole = dataclasses.replace(spec, tune={"lr": values}, select=dataclasses.replace(SELECT, extend=0))
    for name, each in (("continued", spec), ("whole", whole)):
        run.run_cell(each, tmp_path / f"{name}.parquet")
    (frame, meta), (expected, _) = (rows_of(tmp_path / f"{name}.parquet") for name in ("continued", "whole"))
    losses = {}
    for lr in values:
        for seed in SELECT.seeds:
            trained = train("fedavg", spec.problem, seed=seed, **setting, lr=lr).set_index("round")["loss"]
            rows = frame[(frame["lr"] == lr) & (frame["seed"] == seed)]  # those of the score
            assert rows["loss"].tolist() == trained[rows["round"]].tolist() and len(rows) >= 2
            losses.setdefault(lr, []).append(trained.iloc[-2:].mean())
    best = min(losses, key=lambda lr: np.median(losses[lr]))
    (search,) = meta.searches
    assert search.axes == {"lr": values} and values.index(best) == 4  # the end beyond it was tried
    assert search.chosen == {"lr": best} and set(frame[frame["seed"].isin(spec.seeds)]["lr"]) == {best}
    order = ["seed", "lr", "round"]
    parts = [each[each["seed"].isin([*SELECT.seeds, *spec.seeds])].sort_values(order) for each in (frame, expected)]
    pd.testing.assert_frame_equal(*(part.reset_index(drop=True) for part in parts), check_exact=True)


def test_scoring_seeds_do_not_choose(tmp_path):
    """Scored on each of many seeds, the value that tuning chose is not always the best: it is kept."""
    problem = {**SPEC.problem, "noise": 3.0}
    spec = dataclasses.replace(
        SPEC, problem=problem, tune={"lr": [0.08, 0.1]}, select=dataclasses.replace(SELECT, extend=0)
    )
    chosen, better = [], []
    for seed in range(20, 30):
        losses = {}
        for lr in spec.tune["lr"]:
            frame = train("fedavg", spec.problem, seed=seed, **spec.setting, local_steps=4, lr=lr)
            losses[lr] = frame["loss"].iloc[-2:].mean()
        better.append(min(losses, key=losses.get))
        run.run_cell(dataclasses.replace(spec, seeds=[seed]), tmp_path / f"{seed}.parquet")
        chosen.append(rows_of(tmp_path / f"{seed}.parquet")[1].searches[1].chosen["lr"])
    assert len(set(chosen)) == 1 and set(better) == {0.08, 0.1}


def compute_until(last, out):
    """Compute the cell, and interrupt it after ``last`` runs. Return the number of runs, and whether it was cut off."""
    done = []

    def stop(*progress):
        done.append(progress)
        if len(done) == last:
            raise KeyboardInterrupt

    try:
        run.run_cell(SPEC, out, progress=stop)
    except KeyboardInterrupt:
        return len(done), True
    return len(done), False


@pytest.fixture
def uninterrupted(tmp_path, monkeypatch):
    """Frame and metadata of a cell that saves after every run."""
    monkeypatch.setattr(run, "SAVE_SECONDS", -1)
    run.run_cell(SPEC, tmp_path / "uninterrupted.parquet")
    return rows_of(tmp_path / "uninterrupted.parquet")


def agree(out, uninterrupted):
    frame, meta = rows_of(out)
    pd.testing.assert_frame_equal(frame, uninterrupted[0], check_exact=True)
    assert meta.searches == uninterrupted[1].searches


def test_a_search_goes_on_if_it_is_interrupted_again_and_again(tmp_path, uninterrupted):
    out, total, interrupted = tmp_path / "out.parquet", 0, True
    while interrupted:
        count, interrupted = compute_until(4, out)
        total += count
    assert total == len(list(runs(SPEC, uninterrupted[1].searches)))
    agree(out, uninterrupted)


def test_runs_of_an_older_file_are_kept_whatever_they_were_for(tmp_path):
    """A cell that has run two seeds, and now tunes on one of them and scores on the other."""
    plain = dataclasses.replace(SPEC, tune={"lr": [0.004], "server_lr": [1]}, select=None, seeds=[7, 8])
    run.run_cell(plain, tmp_path / "a.parquet")
    again = []
    run.run_cell(SPEC, tmp_path / "a.parquet", progress=lambda *arguments: again.append(arguments))
    run.run_cell(SPEC, tmp_path / "b.parquet")
    frames = [rows_of(tmp_path / f"{name}.parquet")[0] for name in "ab"]
    pd.testing.assert_frame_equal(*frames, check_exact=True)
    assert len(again) == len(list(runs(SPEC, rows_of(tmp_path / "b.parquet")[1].searches))) - 4


def test_where_all_values_diverge_the_first_is_chosen_and_no_axis_continued(tmp_path):
    spec = dataclasses.replace(
        SPEC, tune={"lr": [1e6, 1e5]}, setting={**SPEC.setting, "rounds": 200}, within={"local_steps": [4]}
    )
    run.run_cell(spec, tmp_path / "fedavg/a.parquet")
    (search,) = rows_of(tmp_path / "fedavg/a.parquet")[1].searches
    assert search.chosen == {"lr": 1e6} and search.axes == spec.tune
    table, *_ = build([], SELECT, [tmp_path / "fedavg/a.parquet"])
    row = table[table["chosen"]].iloc[0]
    assert (row["tuning_score"], row["score"], row["tuning_diverged"], row["diverged"]) == (math.inf, math.inf, 2, 2)


def refused(tmp_path, **change):
    with pytest.raises(UserError) as caught:
        expansion.cells(load(tmp_path, GOOD | change))
    return str(caught.value)


CHOICE = {"algorithms": {"fedavg": {"tune": {"lr": [0.1, 1]}}}}


DIGITS = {"problem": {"kind": "softmax", "data": "digits", "partition": "iid"}, "optimum": False}


TESTED = {"metric": "test_accuracy", "statistic": "final", "goal": "max"}


def test_no_seed_tunes_and_scores(tmp_path):
    assert "tuned and scored on the same seed, 1000" in refused(tmp_path, seeds=[0, 1000], **CHOICE)
    analyses = {"seeds": {"at_least": 5, "at_most": 40}, "select": GOOD["select"] | {"seeds": [1000, 39]}}
    assert "39 may become a scoring seed, as seeds.at_most is 40" in refused(tmp_path, **analyses, **CHOICE)
    fixed = {"fedavg": {"set": {"lr": 0.1}, "seeds": [1000]}, "other": {"algorithm": "fedavg", "tune": {"lr": [1, 2]}}}
    assert expansion.cells(load(tmp_path, GOOD | {"algorithms": fixed}))[0].spec.seeds == [1000]


def test_test_data_tune_nothing(tmp_path):
    message = refused(tmp_path, select=TESTED, **DIGITS, **CHOICE)
    assert "problem.validation: 0.1" in message and "select.tuned_on: validation_accuracy" in message
    tuned_on = {"select": {**TESTED, "tuned_on": "validation_accuracy"}}
    assert "select.tuned_on: unknown metric" in refused(tmp_path, **tuned_on, **DIGITS, **CHOICE)
    held = {**DIGITS, "problem": {**DIGITS["problem"], "validation": 0.1}}
    (cell,) = expansion.cells(load(tmp_path, GOOD | {"grid": {}} | tuned_on | held | CHOICE))
    assert cell.spec.select.tuning_metric == "validation_accuracy"
    untuned = {"algorithms": {"fedavg": {"set": {"lr": 0.1}}}}
    assert expansion.cells(load(tmp_path, GOOD | {"select": TESTED} | DIGITS | untuned))[0].spec.select is None


def test_a_cell_without_a_choice_says_nothing_of_it(tmp_path):
    (cell,) = expansion.cells(load(tmp_path, GOOD | {"grid": {}, "algorithms": {"fedavg": {"tune": {"lr": [0.1]}}}}))
    assert "select" not in cell.spec.to_dict() and cell.spec.tune == {"lr": [0.1]}
    with pytest.raises(ValueError, match="select"):
        dataclasses.replace(cell.spec, tune={"lr": [0.1, 1]})
