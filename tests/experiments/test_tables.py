"""Tables: choice of tuned values, warnings, divergence."""

import numpy as np
import pandas as pd
import pytest

from fedatlas.experiments import expansion, run, tables
from tests.experiments.test_config import GOOD, load


def build(tmp_path, **change):
    document = GOOD | {"tune": {"lr": [0.001, 0.01, 0.02, 10.0]}, "algorithms": {"fedavg": {}, "fedprox": {}}} | change
    document.setdefault("grid", {"local_steps": [1, 3]})
    experiment = load(tmp_path, document)
    paths = []
    for cell in expansion.cells(experiment):
        path = tmp_path / f"runs/{cell.id}/{cell.key}.parquet"
        run.run_cell(cell.spec, path)
        paths.append(path)
    return tables.build(list(experiment.grid), experiment.select, paths)


def test_the_best_value_is_chosen_alike_for_every_algorithm(tmp_path):
    table, curves, _, meta = build(tmp_path, setting={"clients": 2, "rounds": 30, "batch": None}, seeds=[0, 1])
    chosen = table[table["chosen"]]
    assert len(chosen) == 4 and len(table) == 16
    for (_, _), group in table.groupby(["algorithm", "local_steps"]):
        assert group["tuning_score"].min() == group.loc[group["chosen"], "tuning_score"].item()
        assert group["seeds"].tolist() == [2 * chosen for chosen in group["chosen"]]
        assert (group["score"].notna() == group["chosen"]).all() and (group["tuning_seeds"] == 1).all()
    assert meta.runs == 4 * (4 + 2)
    assert set(zip(curves["algorithm"], curves["lr"], strict=True)) == set(
        zip(chosen["algorithm"], chosen["lr"], strict=True)
    )
    assert (curves.groupby(["algorithm", "local_steps", "seed"])["round"].max() == 30).all()


def test_divergence_is_a_result_and_never_chosen(tmp_path):
    setting = {"clients": 2, "rounds": 200, "batch": None}
    table, _, _, meta = build(tmp_path, setting=setting, algorithms={"fedavg": {}}, tune={"lr": [0.01, 10.0]})
    wild = table[table["lr"] == 10.0]
    assert (wild["tuning_diverged"] == 1).all() and np.isinf(wild["tuning_score"]).all() and not wild["chosen"].any()
    assert meta.diverged_runs == 2


def test_the_edge_of_the_grid_is_marked(tmp_path):
    table, *_ = build(tmp_path, grid={}, tune={"lr": [1e-6, 1e-5]})
    assert (table.loc[table["chosen"], "edge"] == "lr at its highest value").all()
    table, *_ = build(tmp_path, grid={}, tune={"lr": [1e-6]})
    assert (table["edge"] == "").all()


@pytest.mark.parametrize("statistic", ["best", "final"])
def test_scores_are_what_the_criterion_says(tmp_path, statistic):
    select = {"metric": "loss", "statistic": statistic, "goal": "min"}
    table, curves, *_ = build(tmp_path, select=select, seeds=[0, 1, 2], tune={"lr": [0.03]})
    for _, row in table.iterrows():
        rows = curves[(curves["algorithm"] == row["algorithm"]) & (curves["local_steps"] == row["local_steps"])]
        runs = rows[rows["round"] > 0].groupby("seed")["loss"]
        expected = (runs.min() if statistic == "best" else runs.last()).mean()
        assert row["score"] == pytest.approx(expected, rel=1e-12)


def test_the_tuning_score_is_the_median_over_the_tuning_seeds(tmp_path):
    select = {**GOOD["select"], "seeds": [1000, 1001, 1002, 1003, 1004]}
    problem = {**GOOD["problem"], "noise": 3.0, "start_scale": 2.0}
    table, _, trials, _ = build(tmp_path, select=select, problem=problem, grid={}, tune={"lr": [0.01, 0.02]})
    groups = trials[trials["seed"].isin(select["seeds"])].groupby(["algorithm", "lr"])["score"]
    expected = [groups.get_group(key) for key in zip(table["algorithm"], table["lr"], strict=True)]
    assert table["tuning_score"].tolist() == [sorted(scores)[2] for scores in expected]
    assert (table["tuning_seeds"] == 5).all()


def test_runs_that_are_spread_over_files_make_the_same_table(tmp_path):
    change = {
        "grid": {"problem.L": [5.0, 10.0]},
        "within": {"local_steps": [3, 1, 2], "eval_rounds": [2, 1]},
        "seeds": [0, 1],
        "tune": {"lr": [0.01, 0.02]},
        "algorithms": {"fedavg": {}},
    }
    for name in ("whole", "spread"):
        (tmp_path / name).mkdir()
    reference = build(tmp_path / "whole", **change)
    spread = build(tmp_path / "spread", **change, parts=3)
    assert len(list(tmp_path.glob("spread/runs/*/*.parquet"))) > len(list(tmp_path.glob("whole/runs/*/*.parquet"))) == 2
    for first, second in zip(reference[:3], spread[:3], strict=True):
        columns = [name for name in first if "seconds" not in name]
        pd.testing.assert_frame_equal(first[columns], second[columns])
    assert reference.meta.runs == spread.meta.runs
