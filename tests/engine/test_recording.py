"""What algorithms note of local steps: summarised in rows where asked, and without influence on the run."""

from dataclasses import replace

import numpy as np
import pytest

from fedatlas.errors import UserError
from fedatlas.experiments import tables
from fedatlas.experiments.expansion import cells
from fedatlas.experiments.run import run_cell
from fedatlas.federation.algorithms import ALGORITHMS
from fedatlas.federation.algorithms.fedavg import FedAvg
from fedatlas.federation.engine.history import PARTS, record_columns
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation
from tests.helpers import each_algorithm, example, logistic, quadratic, where_defined
from tests.synthetic import experiment

OPTIONS = {"clients": 5, "local_steps": 3, "rounds": 7, "batch": 2, "eval_rounds": 3}


def simulate(record=("step_size",), block=None, threads=1, name="fedsps", **options):
    setting = Setting(**OPTIONS | options, record=None if record is None else list(record))
    return Simulation(example(name), logistic(), setting, 0, block, threads)


def history(*arguments, **options):
    return simulate(*arguments, **options).run()


def step_sizes(row):
    """The columns of a row that sum up step sizes."""
    return {name: value for name, value in row.items() if name.startswith("step_size")}


def test_summaries_by_hand():
    row = record_columns({"step_size": [np.array([1.0, 3.0]), np.array([5.0, 5.0])]})
    expected = {"mean": 3.5, "min": 1, "max": 5, "within": 0.5, "between": 1.5}
    assert row == {f"step_size_{name}": value for name, value in expected.items()}


def test_keeps_the_last_round_before_each_evaluation():
    rows = history().rows
    assert [row["round"] for row in rows if step_sizes(row)] == [3, 6, 7]
    every_round = history(eval_rounds=1).rows
    for row in rows[1:]:
        assert step_sizes(row) == step_sizes(every_round[row["round"]])
        assert {*step_sizes(row)} == {f"step_size_{part}" for part in PARTS}


@pytest.mark.parametrize("record", [None, ("step_size",)])
@pytest.mark.parametrize("name", ["fedsps", "feddecsps", "fedsps-global"])
def test_does_not_change_a_bit_of_the_run(name, record):
    assert (history(record, name=name).x == history(None, name=name).x).all()


@pytest.mark.parametrize("block, threads", [(1, 1), (2, 1), (2, 3)])
def test_depends_on_neither_blocks_nor_threads(block, threads):
    ours, expected = history(block=block, threads=threads), history()
    assert list(map(step_sizes, ours.rows)) == list(map(step_sizes, expected.rows))


class Recorder(FedAvg):
    """FedAvg that records what ``value`` makes of a step's gradients."""

    records = ("step_size",)
    value = staticmethod(lambda g: 0.25)

    def client(self, s, i, steps):
        for g in steps:
            steps.record(step_size=self.value(g(s.x)))
        return super().client(s, i, steps)


def recorded(value, **options):
    setting = Setting(**OPTIONS | options, record=["step_size"])
    algorithm = type("Recorder", (Recorder,), {"value": staticmethod(value)})(lr=0.1)
    return Simulation(algorithm, logistic(), setting, 0, block=2).run().rows[-1]


@pytest.mark.parametrize("value", [lambda g: g, lambda g: g[:, 0], lambda g: g[0]])
def test_refuses_to_record_what_is_neither_a_column_nor_a_number(value):
    with pytest.raises(UserError, match=r"the recorded step_size has the shape \(\d.*\): record a column \(m, 1\)"):
        recorded(value)


def test_losses_are_those_of_the_minibatches_before_each_step():
    options = OPTIONS | {"rounds": 1}
    recorder = simulate(["local_loss"], name="fedavg", rounds=1)
    recorder.run()
    losses = np.array(recorder.records["local_loss"])
    problem, setting = logistic(), Setting(**options)
    simulation = Simulation(example("fedavg"), problem, setting, 0)
    draws = simulation.sampler.draw(0, np.arange(5), 3)
    y = np.tile(simulation.x0, (5, 1))
    for k in range(3):
        loss, g = problem.batch(np.arange(5), draws[:, k]).value_and_grad(y)
        np.testing.assert_allclose(losses[:, k], loss[:, 0], rtol=1e-12)
        y = y - 0.1 * g


@pytest.mark.parametrize("name", each_algorithm())
def test_losses_are_recorded_of_every_algorithm_and_change_no_run(name):
    problem = quadratic() if "prox" in ALGORITHMS.get(name).requires else logistic()
    setting = Setting(**OPTIONS)
    with where_defined():
        plain, result = (
            Simulation(example(name), problem, replace(setting, record=record), 0).run()
            for record in (None, ["local_loss"])
        )
        assert (plain.x == result.x).all()
    for row in result.rows:
        assert np.isfinite([value for name, value in row.items() if name.startswith("local_loss")]).all()


def make_experiment(record, algorithms, **content):
    content |= {"problem": {"kind": "quadratic", "dim": 3}, "setting": OPTIONS | {"record": record}, "tune": {}}
    return experiment(algorithms, grid={}, metric="loss", **content)


def test_refuses_what_no_algorithm_notes():
    with pytest.raises(UserError, match="no algorithm of the experiment notes 'step_sice'; did you mean 'step_size'"):
        cells(make_experiment(["step_sice"], {"fedsps": {}}))


def test_travels_through_run_files_and_tables(tmp_path):
    subject = make_experiment(["step_size"], {"fedsps": {}, "fedavg": {"set": {"lr": 0.1}}}, seeds=[0, 1])
    result = []
    for cell in cells(subject):
        result.append(tmp_path / cell.id / f"{cell.key}.parquet")
        run_cell(cell.spec, result[-1])
    table, curves, *_ = tables.build(list(subject.grid), subject.select, result)
    assert {"best_step_size_mean", "final_step_size_within"} <= set(table) and "best_step_size" not in table
    assert table.set_index("algorithm")["final_step_size_mean"].isna().to_dict() == {"fedsps": False, "fedavg": True}
    assert "step_size_mean" in curves and "step_size" not in curves
