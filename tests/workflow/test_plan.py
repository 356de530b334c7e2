"""Plans of experiments: what is counted, what is measured, and what lies between."""

from dataclasses import replace

import numpy as np
import pytest

from fedatlas.errors import UserError
from fedatlas.experiments import result_files
from fedatlas.experiments.cells import Cell, CellSpec, Select
from fedatlas.experiments.run import run_cell
from fedatlas.federation.engine.simulation import Simulation
from fedatlas.workflow import plan
from fedatlas.workflow.plan import Measurement
from fedatlas.workflow.study import Study
from fedatlas.workflow.work import count_runs


@pytest.fixture(scope="module")
def study():
    return Study.from_config({})


def linear(load, directory):
    """Measure as on a machine whose rounds take one second, and one more for each million operations."""
    return Measurement(1 + load.work / 1e6, 0.5, 10, 100.0)


@pytest.mark.parametrize(
    "name, size", [("compression", "smoke"), ("fedred_table1", "paper"), ("fedsps_fig4", "laptop")]
)
def test_all_runs_are_planned_and_only_the_ends_of_each_group_measured(study, name, size):
    cells = list(study.cells(size, name).values())
    result = plan.plan(cells, measure=linear)
    separate = [cell for cell in cells if (cell.id, cell.key) not in study.beginnings(size, name)]
    assert sum(load.runs for load in result.loads) == sum(count_runs(cell.spec) for cell in separate)
    assert (len(separate) < len(cells)) == (name == "fedsps_fig4")  # whose open grid begins with the runs of the given
    assert {load.cell for load in result.loads} == set(range(len(cells)))
    algorithms = len({load.run.algorithm for load in result.loads})
    assert algorithms <= result.short <= min(4 * algorithms, len(result.loads))
    exact = [load.all_rounds * linear(load, None).round + load.evaluations / 2 for load in result.loads]
    np.testing.assert_allclose(result.seconds, exact)


@pytest.mark.parametrize("tuning", [None, {"kind": "successive_halving"}, {"kind": "successive_halving", "eta": 3}])
def test_a_search_is_planned_as_it_runs(tuning, tmp_path):
    select = Select(metric="loss", statistic="final", goal="min", seeds=[1000], extend=0)
    setting = {"clients": 3, "rounds": 16, "batch": None, "eval_rounds": 5}
    tune = {"lr": [0.01, 0.02, 0.05, 0.1, 0.2]}
    spec = CellSpec("fedavg", {}, {"kind": "quadratic", "dim": 3}, setting, tune=tune, select=select, tuning=tuning)
    run_cell(spec, tmp_path / "all.parquet")
    rows, _ = result_files.read(tmp_path / "all.parquet")
    (load,) = plan._loads(0, Cell("fedavg", {}, spec))
    ends = rows.groupby([column for column in ("lr", "seed", "rung") if column in rows])["round"].max()
    evaluations = 1 + np.ceil(ends / setting["eval_rounds"])
    assert (load.runs, load.all_rounds, load.evaluations) == (len(ends), ends.sum(), evaluations.sum())


def test_runs_that_are_the_same_for_all_seeds_are_planned_as_they_run(tmp_path):
    select = Select(metric="loss", statistic="final", goal="min", seeds=[1000, 1001, 1002], extend=0)
    problem, setting = {"kind": "quadratic", "dim": 3, "start_scale": 0}, {"clients": 3, "rounds": 4, "batch": None}
    spec = CellSpec("fedavg", {}, problem, setting, tune={"lr": [0.01, 0.1, 0.2]}, seeds=[0, 1], select=select)
    run_cell(spec, tmp_path / "all.parquet")
    rows, _ = result_files.read(tmp_path / "all.parquet")
    assert count_runs(spec) == len(rows.groupby(["lr", "seed"])) == 8


def test_a_plan_leaves_warnings_to_the_runs(recwarn):
    setting = {"clients": 3, "rounds": 4, "batch": None}
    spec = CellSpec("dane+-gd", {"lr": 3, "lam": 0.1}, {"kind": "quadratic", "dim": 3}, setting)
    plan.plan([Cell("dane+-gd", {}, spec)])
    assert not recwarn


def test_a_plan_measures_trials_that_can_be_run():
    problem = {"kind": "quadratic", "dim": 3, "mu": 0.1, "L": 1.0, "similarity": 0.5}
    select = Select(metric="loss", statistic="final", goal="min", seeds=[1000, 1001])
    setting, space = {"clients": 3, "rounds": 4, "batch": None}, {"lam": [0.001, 1000.0]}
    tune = {"lam": [1000.0, 0.001]}  # with the last of which the clients' subproblems are not convex
    spec = CellSpec("dane", {}, problem, setting, tune=tune, select=select, space=space)
    assert plan.plan([Cell("dane", {}, spec)]).short == 1
    with pytest.raises(UserError, match="does not make every client strongly convex"):
        plan.plan([Cell("dane", {}, replace(spec, tune={"lam": [0.001]}))])


def test_more_cores_take_no_less_than_the_longest_job(study):
    cells = list(study.cells("smoke", "fedac_fig1").values())
    result = plan.plan(cells, measure=lambda load, directory: Measurement(3600.0, 0, 2**30, 0))
    jobs = np.bincount([load.cell for load in result.loads], result.seconds) / 3600
    assert f"{jobs.sum():,.3g} h of one processor; on 1 core " in result.text(1)
    assert f"on 1000 cores {jobs.max():,.3g} h, since" in result.text(1000) and "1 GiB in the largest" in result.text(2)
    assert "GPU" not in result.text(1)


def test_a_short_run_measures_a_round_an_evaluation_and_memory(study):
    load = next(plan._loads(0, next(iter(study.cells("smoke", "fedac_fig1").values()))))
    measurement = plan.measure_load(load)
    assert measurement.round >= 0 < measurement.evaluation < 1 and measurement.memory > 0 < measurement.operations


def test_a_long_round_is_computed_once(study, monkeypatch):
    load = next(plan._loads(0, next(iter(study.cells("smoke", "fedac_fig1").values()))))
    monkeypatch.setattr(plan, "LONG_SECONDS", 0.0)
    monkeypatch.setattr(plan, "run_simulations", lambda simulations: pytest.fail("the round is computed again"))
    measurement = plan.measure_load(load)
    assert 0 < measurement.round < 60 and 0 < measurement.evaluation < 1 and measurement.operations > 0


def test_a_round_is_measured_after_gradients_are_compiled(monkeypatch):
    setting = {"clients": 2, "local_steps": 3, "rounds": 2, "batch": 4}
    load = next(
        plan._loads(0, Cell("fedprox", {}, CellSpec("fedprox", {"lr": 0.1}, {"kind": "quadratic", "dim": 3}, setting)))
    )
    rounds = []
    run_round = Simulation.run_round

    def compute(simulation, *arguments):
        rounds.append((simulation.algorithm.name, simulation.setting.local_steps))
        return run_round(simulation, *arguments)

    monkeypatch.setattr(plan, "LONG_SECONDS", 0.0)
    monkeypatch.setattr(Simulation, "run_round", compute)
    plan.measure_load(load)
    assert rounds == [("fedavg", 1), ("fedprox", 3)]


def test_data_that_are_not_prepared_are_named(study, tmp_path):
    cells = study.cells("laptop", "fedspeed_fig1a").values()
    with pytest.raises(UserError, match="the data set 'cifar10' is not prepared"):
        plan.plan(cells, tmp_path)
