"""What the jobs of an experiment take: counted, measured, and in proportion to work."""

from pathlib import Path

import pytest

from fedatlas.experiments import result_files
from fedatlas.experiments.cells import CellSpec, Select
from fedatlas.experiments.run import run_cell
from fedatlas.experiments.runs import initial_searches
from fedatlas.workflow import estimates as estimates_module
from fedatlas.workflow.estimates import Estimates
from fedatlas.workflow.resources import count_runs, count_work, run_stages
from fedatlas.workflow.study import Study
from fedatlas.workflow.summary import Cost
from tests.workflow.project import TINY


@pytest.mark.parametrize("tuning", [None, {"kind": "successive_halving"}])
def test_a_search_is_counted_as_it_runs(tuning, tmp_path):
    select = Select(metric="loss", statistic="final", goal="min", seeds=[1000], extend=0)
    setting = {"clients": 3, "rounds": 16, "batch": None, "eval_rounds": 5}
    tune = {"lr": [0.01, 0.02, 0.05, 0.1, 0.2]}
    spec = CellSpec("fedavg", {}, {"kind": "quadratic", "dim": 3}, setting, tune=tune, select=select, tuning=tuning)
    run_cell(spec, tmp_path / "all.parquet")
    rows, _ = result_files.read(tmp_path / "all.parquet")
    ends = rows.groupby([column for column in ("lr", "seed", "rung") if column in rows])["round"].max()
    (search,) = initial_searches(spec)
    stages = run_stages(spec, search, 16)
    assert sum(count for count, _ in stages) == count_runs(spec) == len(ends)
    assert sum(count * rounds for count, rounds in stages) == ends.sum()


@pytest.fixture
def study(project, monkeypatch):
    project.write_experiment(setting=TINY["setting"] | {"rounds": None}, grid={"rounds": [5, 500]}, figures={})
    monkeypatch.chdir(project.folder)
    return Study.open()


def test_cells_take_the_time_of_their_experiment_in_proportion_to_their_work(study):
    estimates = Estimates(study, {("tiny", "smoke"): Cost(8, 3600.0, True)})
    cells = estimates.study.cells("smoke", "tiny").values()
    rate = estimates.seconds_per_operation("smoke", "tiny")
    assert sum(rate * count_work(cell.spec) for cell in cells) == pytest.approx(3600)
    text = estimates.text("smoke", "tiny", 1)
    assert text.startswith(f"jobs     {len(cells)} run files with ") and "MiB in the largest job" in text
    assert "time     ~62 min on 1 core" in text


def test_an_experiment_takes_as_long_as_the_one_that_it_extends_and_each_job_a_start(study):
    Path("config/experiments/more.yaml").write_text("{extends: tiny, title: More, sizes: {smoke: {}}}")
    estimates = Estimates(Study.open(), {("tiny", "smoke"): Cost(8, 3600.0, True)})
    specs = [cell.spec for cell in estimates.study.cells("smoke", "more").values()]
    start = estimates_module.START_SECONDS
    assert estimates.elapsed("smoke", "more", specs, 1) == pytest.approx(3600 + (1 + len(specs)) * start)
    longest = max(estimates.seconds_per_operation("smoke", "tiny") * count_work(spec) for spec in specs)
    assert estimates.elapsed("smoke", "more", specs, 1000) == pytest.approx(longest + 2 * start)
    assert Estimates(Study.open(), {}).elapsed("smoke", "more", specs, 1) is None


def test_run_files_that_are_here_are_not_counted(study):
    estimates = Estimates(study, {})
    *rest, first = estimates.study.cells("smoke", "tiny").values()
    run_cell(first.spec, f"results/smoke/tiny/runs/{first.id}/{first.key}.parquet")
    text = estimates.text("smoke", "tiny", 2)
    assert f"jobs     {len(rest)} run files" in text and "runs; 1 are here or in the record" in text
    for cell in rest:
        run_cell(cell.spec, f"results/smoke/tiny/runs/{cell.id}/{cell.key}.parquet")
    assert estimates.text("smoke", "tiny", 2) == f"jobs     all {len(rest) + 1} run files are here or in the record"
