"""Metrics over rounds, and the geometric grid of evaluations: rows are few, and say what all rounds say."""

import numpy as np
import pytest

from fedatlas.errors import UserError
from fedatlas.experiments import labels
from fedatlas.experiments.cells import CellSpec
from fedatlas.experiments.dependencies import cell_modules
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation, run_simulations
from tests.engine.test_checkpoint import resumed, same, stopped_after
from tests.helpers import example, logistic

ROUNDS = 40


STATISTICS = {
    "mean": lambda values: np.cumsum(values) / np.arange(1, len(values) + 1),
    "mean_square": lambda values: np.cumsum(values**2) / np.arange(1, len(values) + 1),
    "min": np.minimum.accumulate,
    "max": np.maximum.accumulate,
}


GRIDS = [{"eval_rounds": 1}, {"eval_rounds": 7}, {"eval_steps": 6}, {"eval_points": 8}, {}]


BASES = ("loss", "loss_clients_max", "step_size_max")


NAMES = [f"{base}_rounds_{statistic}" for base in BASES for statistic in STATISTICS]


def simulate(name="fedsps", block=None, threads=1, problem=None, **options):
    setting = {"clients": 5, "rounds": ROUNDS, "local_steps": 2, "batch": 2, "record": ["step_size"]} | options
    return Simulation(example(name), problem or logistic(), Setting(**setting), 1, block, threads)


@pytest.fixture(scope="module")
def full():
    """Rows of all rounds, with the metrics of a round alone."""
    return simulate(eval_rounds=1, metrics=["loss_clients_max"]).run()


@pytest.mark.parametrize("points", [1, 2, 12, 270])
@pytest.mark.parametrize("rounds", [1, 2, 3, 63, 64, 65, 1000])
def test_points_lie_in_equal_ratios_with_the_powers_of_two(points, rounds):
    setting = Setting(clients=2, rounds=rounds, eval_points=points)
    grid = setting.eval_grid
    assert grid == sorted(set(grid)) and (grid[0], grid[-1]) == (0, rounds)
    assert {2**k for k in range(20) if 2**k <= rounds} <= set(grid)
    assert len(grid) <= points + 2 + rounds.bit_length()
    assert [setting.evaluated(t) for t in range(rounds + 1)] == [t in grid for t in range(rounds + 1)]
    assert [setting.next_evaluation(t) for t in grid[:-1]] == grid[1:]
    steps = np.diff(np.log(grid[1:]))
    assert len(steps) == 0 or points == 1 or steps.max() <= np.log(rounds) / (points - 1) + np.log(2)


@pytest.mark.parametrize("options", [{"eval_rounds": 2}, {"eval_steps": 2}])
def test_a_setting_has_one_grid(options):
    with pytest.raises(UserError, match="give one of eval_rounds, eval_steps and eval_points"):
        Setting(clients=2, rounds=4, eval_points=3, **options)


@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_rows_of_a_grid_hold_the_statistics_of_all_rounds(grid, full):
    history = simulate(metrics=["loss_clients_max", *NAMES], **grid).run()
    assert (history.x == full.x).all()
    assert [row["round"] for row in history.rows] == Setting(clients=5, rounds=ROUNDS, local_steps=2, **grid).eval_grid
    for name, base in ((name, name.partition("_rounds_")[0]) for name in NAMES):
        first = 1 if base == "step_size_max" else 0
        values = np.array([row[base] for row in full.rows[first:]])
        expected = STATISTICS[name.partition("_rounds_")[2]](values)
        rows = [row for row in history.rows if row["round"] >= first]
        found = np.array([row[name] for row in rows])
        expected = expected[[row["round"] - first for row in rows]]
        if name.endswith(("_min", "_max")):
            assert (found == expected).all(), name
        np.testing.assert_allclose(found, expected, rtol=1e-12)
        assert [row[base] for row in rows] == [full.rows[row["round"]][base] for row in rows]


@pytest.mark.parametrize("block, threads", [(1, 1), (2, 3)])
def test_neither_blocks_nor_threads_change_a_bit(block, threads):
    options = {"metrics": NAMES, "eval_points": 8}
    assert same(simulate(block=block, threads=threads, **options).run(), simulate(**options).run())


@pytest.mark.parametrize("stop", [1, 2, 6, 30, 39])
def test_an_interrupted_run_goes_on_with_its_totals(stop, tmp_path):
    from fedatlas.federation.engine.checkpoint import Stopped

    options = {"metrics": NAMES, "eval_points": 6}
    with pytest.raises(Stopped):
        run_simulations([simulate(**options)], keep=stopped_after(stop, tmp_path / "run.state"))
    again = simulate(**options)
    (history,) = run_simulations([again], keep=resumed(tmp_path / "run.state"))
    whole = simulate(**options).run()
    assert same(history, whole) and history.totals == whole.totals


def test_compiled_rounds_have_the_same_statistics():
    problem = logistic(heterogeneous=False)
    options = {"problem": problem, "record": None, "batch": 1, "rounds": 12}
    names = ["loss_rounds_mean", "loss_rounds_min"]
    pair = [simulate("fedavg", eval_points=4, metrics=names, **options) for _ in range(2)]
    assert problem.kernel(pair) is not None
    histories = run_simulations(pair)
    losses = np.array([row["loss"] for row in simulate("fedavg", eval_rounds=1, **options).run().rows])
    for history in histories:
        rounds = [row["round"] for row in history.rows]
        assert rounds == pair[0].setting.eval_grid
        for name in names:
            expected = STATISTICS[name.rpartition("_")[2]](losses)[rounds]
            np.testing.assert_allclose([row[name] for row in history.rows], expected, rtol=1e-12)


@pytest.mark.parametrize("name", ["lozz_rounds_mean", "step_size_max_rounds_min", "loss_rounds_min_rounds_max"])
def test_a_metric_that_no_round_has_is_refused(name):
    base = name.rpartition("_rounds_")[0]
    with pytest.raises(UserError, match=f"does not report '{base}'"):
        simulate(record=None, metrics=[name]).run()


def test_a_run_depends_on_the_metric_and_not_on_a_recorded_value():
    metrics = ["gradient_norm_rounds_min", "step_size_max_rounds_max"]
    setting = {"clients": 2, "rounds": 2, "record": ["step_size"], "metrics": metrics}
    modules = cell_modules(CellSpec("fedsps", {}, {"kind": "quadratic", "dim": 3}, setting))
    assert "fedatlas.federation.metrics.gradient_norm" in modules
    assert labels.words("step_size_max_rounds_max") == "largest step size, largest so far"
