"""The probability that an algorithm improves upon another, and its intervals over problems."""

import math

import numpy as np
import pytest
from hypothesis import given
from scipy import stats

from fedatlas.results.comparing.intervals import LEVEL
from fedatlas.results.comparing.ranks import probability_of_improvement

from .fixtures import boards, make_board

INF, NAN = math.inf, math.nan


def test_instances_that_are_better_are_counted_by_hand():
    board = make_board(
        [
            [[[1, 2, 3, 4]], [[5, 5, INF, INF]]],
            [[[2, 2, 2, 2]], [[9, 9, 9, INF]]],
            [[[9, 9, 9, 9]], [[NAN, NAN, NAN, NAN]]],
        ]
    )
    result = probability_of_improvement(board, resamples=200)
    first = (1 + 0.5) / 4, (2 + 0.5) / 4  # of each problem; what neither attains is equal
    assert result["a0", "a1"].value == np.mean(first) and result["a1", "a0"].value == 1 - np.mean(first)
    assert result["a0", "a2"].value == result["a1", "a2"].value == 1 and ("a0", "a0") not in result
    assert result["a0", "a2"].low < result["a0", "a2"].high == 1
    assert result["a0", "a1"].low < np.mean(first) < result["a0", "a1"].high


@given(boards())
def test_it_is_a_loop_over_pairs(board):
    result = probability_of_improvement(board, resamples=100)
    count = len(board.algorithms)
    for a, b in np.ndindex(count, count):
        shares = []
        for problem in range(len(board.problems)) if a != b else ():
            mine, other = board.numbers[a, problem], board.numbers[b, problem]
            if not (np.isnan(mine).all() or np.isnan(other).all()):
                pairs = [
                    0.5 if x == y or 20 * abs(x - y) <= min(x, y) < INF else float(x < y)
                    for x, y in zip(mine.ravel(), other.ravel(), strict=True)
                ]
                shares.append(np.mean(pairs))
        estimate = result.get((f"a{a}", f"a{b}"))
        assert (estimate is None) == (not shares)
        if estimate:
            np.testing.assert_allclose(estimate.value, np.mean(shares))
            np.testing.assert_allclose(estimate.value + result[f"a{b}", f"a{a}"].value, 1)
            assert -1e-12 <= estimate.low <= estimate.high <= 1 + 1e-12


@pytest.mark.parametrize("problems", [1, 4, 16])
def test_who_wins_all_pairs_has_the_bound_of_clopper_and_pearson_with_a_trial_for_each_problem(problems):
    board = make_board(np.stack([np.full((problems, 1, 15), value) for value in (1.0, 2.0)]))
    result = probability_of_improvement(board, resamples=20000)
    won, lost = result["a0", "a1"], result["a1", "a0"]
    assert won.value == won.high == 1 and lost.low == 0
    bound = stats.beta.ppf(LEVEL / 2, problems, 1)
    assert (won.low, lost.high) == pytest.approx((bound, 1 - bound), abs=0.02)


@pytest.mark.parametrize("shape", [(0.3, 0.3), (3.0, 1.0), (1.0, 0.05)], ids=["apart", "alike", "mostly won"])
@pytest.mark.parametrize("problems", [4, 14])
def test_intervals_over_problems_hold_the_probability_of_those_from_which_they_are_drawn(shape, problems):
    """Problems have random shares of instances that are won, so their number tells, and not that of instances."""
    rng, held = np.random.default_rng(0), 0
    for _ in range(100):
        wins = rng.random((problems, 1, 8)) < rng.beta(*shape, size=(problems, 1, 1))
        board = make_board(np.stack([np.where(wins, 1.0, 3.0), np.full(wins.shape, 2.0)]))
        result = probability_of_improvement(board, resamples=300)["a0", "a1"]
        assert result.low < result.high
        held += result.low <= shape[0] / sum(shape) <= result.high
    assert held >= 93
