"""Who is the best on a problem, who is within noise of it, and who beats whom."""

import math

import numpy as np
import pytest
from hypothesis import given
from scipy import stats

from fedatlas.results.comparing.pairwise import pairwise_gap, standings

from .fixtures import boards, make_board

INF, NAN = math.inf, math.nan


def one_problem(*rows, **options):
    """A Board of one problem and target: costs of each algorithm by seed."""
    return make_board(np.array(rows, float)[:, None, None, :], **options)


def near(board):
    return [item.near for item in standings(board, 0)]


def test_standings_by_hand():
    board = one_problem([10, 11, 12, 13], [20, 22, 24, 26], [9, 13, 11, 16], [10, 11, INF, INF], [INF] * 4, [NAN] * 4)
    best, worse, close, half, never, undefined = standings(board, 0)
    assert (best.near, worse.near, close.near, half.near, never.near) == (True, False, True, True, False)
    assert best.loss == 1 and worse[:3] == pytest.approx((2, 2, 2)) and (half.attained, half.seeds) == (2, 4)
    assert (never.attained, never.seeds, undefined.seeds) == (0, 4, 0) and math.isnan(never.loss)


def test_the_interval_against_the_best_is_students_of_log_ratios_with_bonferroni():
    ours, best = [20.0, 25.0, 31.0], [10.0, 11.0, 12.0]
    result = standings(one_problem(best, ours, [100.0, 120.0, 150.0]), 0)[1]
    logs = np.log(ours) - np.log(best)
    half = stats.t.ppf(1 - 0.05 / 2 / 2, 2) * logs.std(ddof=1) / math.sqrt(3)
    assert (result.low, result.high) == pytest.approx((math.exp(logs.mean() - half), math.exp(logs.mean() + half)))


def test_one_seed_tells_nothing_apart():
    assert near(one_problem([1], [50])) == [True, True]


def test_scores_are_compared_by_difference():
    board = one_problem([-0.9, -0.91, -0.9], [-0.8, -0.8, -0.81], log=False)
    assert near(board) == [True, False]
    assert standings(board, 0)[1].loss == pytest.approx(0.1)


def values(ours, theirs):
    return pairwise_gap(one_problem(ours, theirs), 0, 1, 0).values


def test_gaps_of_what_is_not_attained():
    assert values([2.0, INF], [1.0, 1.0]) == (2, INF)
    assert values([2.0, 4.0], [1.0, INF]) == (2, 0)
    assert math.isnan(values([INF, 1.0], [INF, 2.0])[0])
    assert values([0.0, 3.0], [0.0, 0.0]) == (1, INF)
    apart = one_problem([1.0, 2.0, NAN, NAN], [NAN, NAN, 5.0, 6.0])
    assert pairwise_gap(apart, 0, 1, 0).values == () and pairwise_gap(apart, 0, 1, 0).interval() == (-INF, INF)
    assert near(apart) == [True, True]


@given(boards(least=(2, 1, 1, 2)))
def test_somebody_is_near_the_best_where_a_target_is_attained_and_all_others_are_surely_worse(board):
    for problem in range(len(board.problems)):
        result = standings(board, problem)
        assert any(item.near for item in result) == any(item.attained for item in result)
        for item in result:
            assert item.near or not item.attained or item.low > 1


@given(boards(least=(2, 1, 1, 2), undefined=False))
def test_costs_in_another_unit_give_the_same_standings(board):
    scaled = make_board(board.numbers * 8)
    for problem in range(len(board.problems)):
        assert [item.near for item in standings(board, problem)] == [item.near for item in standings(scaled, problem)]


def test_the_true_best_is_seldom_told_to_be_worse():
    """Of six algorithms, five are nearly as good as the first; in 400 tables it is told to be worse in at most 5 %."""
    rng, lost, worst = np.random.default_rng(0), 0, 0
    for _ in range(400):
        costs = np.exp(0.1 * rng.standard_normal((7, 5)))
        costs[1:6] *= 1.001
        costs[6] *= 3
        flags = near(one_problem(*costs))
        lost, worst = lost + (not flags[0]), worst + (not flags[6])
    assert lost / 400 <= 0.05 and worst / 400 > 0.95
