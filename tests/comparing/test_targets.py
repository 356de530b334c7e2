"""Targets of problems, and the cost at which runs attain them."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedatlas.results.comparing.benchmark import score_benchmark, target_costs

from .fixtures import curves

RUNS = {
    ("a", 1, 0): [(0, 1.0), (10, 0.5), (20, 0.1), (30, 0.01)],
    ("a", 1, 1): [(0, 1.0), (10, 0.05), (20, 0.2), (30, 0.3)],
    ("b", 1, 0): [(0, 1.0), (10, 0.9), (20, 0.8), (30, 0.7)],
    ("b", 1, 1): [(0, 1.0), (10, 0.9), (20, 0.8), (30, math.nan)],
    ("a", 2, 0): [(0, 100.0), (5, 9.0), (10, 0.5)],
    ("a", 2, 1): [(0, 300.0), (5, 21.0), (10, 20.0)],
}


def test_costs_of_targets_by_hand():
    result = target_costs(curves(RUNS), ["a", "b"], ["K"], "suboptimality", "min", (0.1, 0.01))
    assert result.problems == [(1,), (2,)]
    assert result.numbers[0, 0].tolist() == [[20, 10], [30, math.inf]]
    assert result.numbers[1, 0].tolist() == [[math.inf] * 2] * 2
    assert result.numbers[0, 1].tolist() == [[5, 5], [10, math.inf]]  # each seed has its own first value
    assert np.isnan(result.numbers[1, 1]).all()
    assert result.defined.tolist() == [[True, True], [True, False]]
    assert result.by_seed(0, 1, 0) == {0: 5, 1: 5} and result.by_seed(1, 1) == {}


def test_the_best_value_is_that_of_all_algorithms_with_the_seed():
    runs = {
        ("a", 1, 0): [(0, 0.1), (10, 0.5), (20, 0.9)],
        ("b", 1, 0): [(0, 0.1), (10, 0.3), (20, 0.4)],
        ("b", 1, 1): [(0, 0.1), (10, 0.86), (20, 0.2)],
    }
    result = target_costs(curves(runs, metric="accuracy"), ["a", "b"], ["K"], "accuracy", "max", (0.1,))
    assert result.numbers[:, 0, 0].tolist() == [[20, 20], [math.inf, 10]]


def test_a_loss_has_its_targets_towards_its_optimum_where_that_is_known():
    falling = [(0, 7.0), (3, 5.25), (5, 4.5), (7, 4.375), (9, 3.5)]
    result = curves({("a", 1, 0): falling, ("a", 2, 0): falling}, metric="loss")
    result["suboptimality"] = (result["loss"] - 3).where(result["K"] == 1)
    result = target_costs(result, ["a"], ["K"], "loss", "min", (0.5, 0.25))
    assert result.numbers[0, :, :, 0].tolist() == [[5, 9], [3, 7]]


def test_each_seed_has_the_optimum_of_its_instance():
    runs = {("a", 1, seed): [(0, low + 8.0), (5, low + 2.0), (9, low)] for seed, low in ((0, 0.0), (1, 1000.0))}
    output = curves(runs, metric="loss")
    output["suboptimality"] = output["loss"] - 1000 * output["seed"]
    result = target_costs(output, ["a"], ["K"], "loss", "min", (0.5,))
    assert result.numbers.ravel().tolist() == [5, 5]


def test_seeds_that_an_algorithm_lacks_are_filled_and_told():
    runs = {("a", 1, seed): [(0, 1.0), (seed + 1, 0.0)] for seed in (0, 1, 2, 3)}
    runs |= {("b", 1, seed): [(0, 1.0), (10 * seed + 10, 0.0)] for seed in (1, 3)}
    result = target_costs(curves(runs), ["a", "b"], ["K"], "suboptimality", "min", (0.1,))
    assert result.numbers[1, 0, 0].tolist() == [20, 20, 20, 40]  # slots 0 and 2 repeat the first
    assert result.by_seed(1, 0) == {1: 20, 3: 40}


@given(
    st.dictionaries(
        st.tuples(st.sampled_from("ab"), st.integers(1, 2), st.integers(0, 2)),
        st.lists(st.one_of(st.integers(0, 8).map(float), st.just(math.nan)), min_size=2, max_size=5),
        min_size=1,
    ),
    st.sampled_from(["min", "max"]),
)
def test_a_board_is_a_loop_over_runs(runs, goal):
    runs = {key: [(at, value) for at, value in enumerate([4.0, *values])] for key, values in runs.items()}
    shares = (0.5, 0.1)
    result = target_costs(curves(runs, metric="loss"), ["a", "b"], ["K"], "loss", goal, shares)
    for (algorithm, point, seed), values in runs.items():
        index = result.problems.index((point,))
        numbers = [v for (_, p, s), those in runs.items() if (p, s) == (point, seed) for _, v in those if v == v]
        best = min(numbers) if goal == "min" else max(numbers)
        for t, share in enumerate(shares):
            target = best + share * (4.0 - best)
            hits = [at for at, v in values[1:] if (v <= target if goal == "min" else v >= target)]
            costs = result.by_seed("ab".index(algorithm), index, t)
            assert costs[seed] == (hits[0] if hits else math.inf)


def test_scores_are_turned_so_that_small_ones_are_good():
    index = pd.MultiIndex.from_tuples([("a", 1, 0), ("a", 1, 1), ("b", 1, 0)], names=["algorithm", "K", "seed"])
    high, starts = pd.Series([0.9, 0.8, -math.inf], index), pd.Series(0.1, index)
    result = score_benchmark(high, starts, ["a", "b", "c"], ["K"], "max", log=False)
    assert result.numbers[:, 0, 0].tolist()[:2] == [[-0.9, -0.8], [math.inf, math.inf]]
    assert np.isnan(result.numbers[2]).all()
    small = score_benchmark(pd.Series([0.0, 1e-3, 1.0], index), starts, ["a", "b"], ["K"], "min", log=True)
    assert small.numbers[0, 0, 0].tolist() == [1e-16, 1e-3] and small.log and small.resolution == pytest.approx([1e-10])
