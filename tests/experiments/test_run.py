"""Run files: what they hold, and that only what is missing is run."""

import dataclasses
import struct

import pandas as pd
import pytest

from fedatlas.errors import UserError
from fedatlas.experiments import result_files as files
from fedatlas.experiments import run
from fedatlas.experiments.cells import CellSpec, Select
from fedatlas.experiments.runs import RunMeta, runs
from fedatlas.publish.report.page import count_environments

SELECT = Select(metric="loss", statistic="final", goal="min", seeds=[7, 8], extend=0)


SPEC = CellSpec(
    algorithm="fedavg",
    parameters={},
    problem={"kind": "quadratic", "dim": 4, "L": 10.0, "heterogeneity": 1.0, "start_scale": 0.0},
    setting={"clients": 3, "rounds": 4, "batch": None},
    within={"local_steps": [1, 2]},
    tune={"lr": [0.01, 0.05]},
    seeds=[0, 1],
    select=SELECT,
)


@pytest.fixture
def counted(monkeypatch):
    """The runs that were really simulated."""
    done = []
    original = run.run_simulations
    monkeypatch.setattr(
        run, "run_simulations", lambda simulations, **how: done.extend(simulations) or original(simulations, **how)
    )
    return done


@pytest.mark.parametrize("fresh", [{"numpy": "1.0"}, {"processor": "another"}])
def test_each_run_names_the_environment_that_computed_it(tmp_path, monkeypatch, fresh):
    out = tmp_path / "a.parquet"
    run.run_cell(SPEC, out)
    (first,) = files.read(out)[1]["environments"]
    monkeypatch.setattr(run, "environment", lambda: first | fresh)
    run.run_cell(dataclasses.replace(SPEC, seeds=[0, 1, 2]), out)
    meta = RunMeta.from_dict(files.read(out)[1])
    assert meta.environments == [first, first | fresh] and count_environments(meta.environments) == 2
    seeds = [item.seed for item in runs(meta.spec, meta.searches)]
    assert meta.computed == [int(seed == 2) for seed in seeds]
    run.run_cell(dataclasses.replace(SPEC, seeds=[0, 1]), out)
    assert files.read(out)[1]["environments"] == [first]


@pytest.mark.parametrize(
    "change, missing",
    [
        ({}, 0),
        ({"tune": {"lr": [0.01, 0.02, 0.05]}}, 4),
        ({"seeds": [0, 1, 2]}, 2),
        ({"within": {"local_steps": [1, 2, 3]}}, 6),
        ({"tune": {"lr": [0.05]}, "select": None}, 0),
        ({"select": dataclasses.replace(SELECT, seeds=[8, 9])}, 4),
        ({"select": dataclasses.replace(SELECT, extend=1)}, 4),
        ({"select": dataclasses.replace(SELECT, goal="max")}, 12),  # whose runs hold the rows of another score
        ({"setting": {"clients": 3, "rounds": 5, "batch": None}}, 12),
        ({"parameters": {"server_lr": 0.5}}, 12),
        ({"parameters": {"server_lr": 1.0}, "setting": {"sampling": "replacement", **SPEC.setting}}, 0),
    ],
)
def test_only_missing_runs_are_run(tmp_path, counted, change, missing):
    out, fresh = tmp_path / "a.parquet", tmp_path / "b.parquet"
    run.run_cell(SPEC, out)
    counted.clear()
    spec = dataclasses.replace(SPEC, **change)
    run.run_cell(spec, out)
    assert len(counted) == missing
    run.run_cell(spec, fresh)
    extended, expected = (files.read(path)[0].drop(columns="seconds") for path in (out, fresh))
    pd.testing.assert_frame_equal(extended, expected)


def test_each_seed_has_an_instance_of_its_own_that_all_values_share(tmp_path):
    spec = dataclasses.replace(SPEC, problem={**SPEC.problem, "instance": "seed"})
    run.run_cell(spec, tmp_path / "all.parquet")
    rows, _ = files.read(tmp_path / "all.parquet")
    for seed in (7, 0):
        alone = {"problem": {**SPEC.problem, "instance": seed}, "seeds": [seed], "select": None}
        for lr in (0.01, 0.05) if seed == 7 else (0.05,):
            out = tmp_path / f"{seed}-{lr}.parquet"
            run.run_cell(dataclasses.replace(spec, tune={"lr": [lr]}, **alone), out)
            same = rows[(rows["seed"] == seed) & (rows["lr"] == lr)]
            expected = files.read(out)[0].query("round in @same['round']")
            assert same["suboptimality"].tolist() == expected["suboptimality"].tolist() and len(same) >= 2
    last = rows[(rows["round"] == 4) & (rows["lr"] == 0.05) & (rows["local_steps"] == 1)]["loss"]
    assert last.nunique() == len(last) >= 4


def test_trials_without_a_solution_on_some_instances_diverge_there(tmp_path):
    """A proximal weight makes all clients strongly convex on one seed's instance and not on that of another."""
    problem = {"kind": "quadratic", "dim": 4, "mu": 0.1, "L": 10.0, "similarity": 3.0, "instance": "seed"}
    seeds = [*range(100, 120)]
    change = {"within": {}, "seeds": [*range(20)], "select": dataclasses.replace(SELECT, seeds=seeds)}
    spec = dataclasses.replace(SPEC, algorithm="dane", problem=problem, **change, tune={"lam": [1e-3, 1.5, 9.0]})
    run.run_cell(dataclasses.replace(spec, space={"lam": [1e-3, 9.0]}), tmp_path / "a.parquet")
    frame, _ = files.read(tmp_path / "a.parquet")
    diverged = frame.groupby(["lam", "seed"])["status"].first().unstack() == "diverged"
    assert list(diverged.index) == [1.5, 9.0]  # the lowest can begin on no instance
    assert diverged.loc[1.5, seeds].sum() in range(1, 20) and not diverged.loc[9.0].any()


def test_other_code_runs_again(tmp_path, counted, monkeypatch):
    out = tmp_path / "a.parquet"
    run.run_cell(SPEC, out)
    counted.clear()
    monkeypatch.setattr(run, "fingerprint", lambda *modules: "another")
    run.run_cell(SPEC, out)
    assert len(counted) == 12


def test_numbers_that_were_damaged_are_made_again(tmp_path, counted):
    """A changed byte of a column of the run's place would give the rows of one run to another."""
    out = tmp_path / "a.parquet"
    run.run_cell(SPEC, out)
    expected, _ = files.read(out)
    content = bytearray(out.read_bytes())
    offset = content.index(struct.pack("<2d", 0.01, 0.05))
    content[offset + 8 : offset + 16] = content[offset : offset + 8]
    out.write_bytes(content)
    counted.clear()
    with pytest.raises(UserError, match="is not a result file of fedatlas"):
        files.read(out)
    run.run_cell(SPEC, out)
    assert len(counted) == 12
    pd.testing.assert_frame_equal(files.read(out)[0].drop(columns="seconds"), expected.drop(columns="seconds"))


def test_a_damaged_file_is_made_anew(tmp_path, counted):
    out = tmp_path / "a.parquet"
    out.write_bytes(b"PAR1 nonsense")
    run.run_cell(SPEC, out)
    assert len(counted) == 12 and len(files.read(out)[0]) == 4 * 5 + 8 * 2  # evaluations on scoring and tuning seeds


def test_another_availability_trace_is_another_run(tmp_path, counted):
    trace, out = tmp_path / "trace.csv", tmp_path / "a.parquet"
    trace.write_text("round,client,available\n0,0,1\n1,2,1\n")
    rule = {"kind": "trace", "file": str(trace)}
    spec = dataclasses.replace(SPEC, setting={**SPEC.setting, "participation": rule})
    run.run_cell(spec, out)
    run.run_cell(spec, out)
    assert len(counted) == 12
    trace.write_text("round,client,available\n0,0,1\n1,1,1\n")
    run.run_cell(spec, out)
    assert len(counted) == 24
