"""Orders of algorithms, and how they agree."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from fedatlas.results.comparing.intervals import Resampled
from fedatlas.results.comparing.profiles import draw_resamples, profile_areas
from fedatlas.results.comparing.ranking import (
    Order,
    compare_orders,
    kendall,
    measure_agreement,
    order_algorithms,
    rank_algorithms,
    split_seeds,
)

from .fixtures import boards, make_board

INF = math.inf
LISTS = st.integers(2, 7).flatmap(lambda n: st.tuples(*[st.lists(st.integers(0, 4), min_size=n, max_size=n)] * 2))


@given(LISTS)
def test_tau_is_scipys(lists):
    first, second = (np.array(order, float) for order in lists)
    expected = stats.kendalltau(first, second).statistic
    result = float(kendall(first, second))
    assert result == pytest.approx(expected) or (math.isnan(result) and math.isnan(expected))


def spread(rng, factors, problems=8, slots=5, noise=0.05):
    """A Board of algorithms whose costs differ by factors."""
    shape = (len(factors), problems, 1, slots)
    costs = np.array(factors, float)[:, None, None, None] * np.exp(noise * rng.standard_normal(shape))
    return make_board(costs * np.exp(rng.standard_normal((1, problems, 1, 1))))


def test_an_order_by_hand():
    board = make_board([[[[10]], [[10]]], [[[20]], [[40]]], [[[INF]], [[40]]]])
    result = order_algorithms(board, 16.0, draw_resamples(2, 1, 100, 0))
    assert result.scores.tolist() == pytest.approx([1, (3 / 4 + 2 / 4) / 2, (0 + 2 / 4) / 2])
    assert result.ranks.tolist() == [1, 2, 3]
    assert Order(np.array([1.0, 3.0, 1.0, 0.0]), np.zeros((1, 4))).ranks.tolist() == [2.5, 1, 2.5, 4]


@given(boards(), st.integers(0, 9))
def test_resampled_scores_are_those_of_resampled_boards(board, seed):
    resampled = draw_resamples(len(board.problems), board.seeds.shape[1], 3, seed)
    result = order_algorithms(board, 16.0, resampled)
    for b in range(3):
        close = [
            profile_areas(board.numbers, 16.0)[:, p, s].tolist()
            for p, slots in zip(resampled.problems[b], resampled.slots[b], strict=True)
            for s in slots
        ]
        np.testing.assert_allclose(result.draws[b], np.mean(close, axis=0))


def test_clear_orders_agree_and_noise_does_not():
    rng = np.random.default_rng(0)
    _, _, clear = compare_orders(spread(rng, [1, 2, 4, 8]), spread(rng, [1, 2, 4, 8]), 16.0)
    assert clear.tau.value == 1 and clear.tau.interval() == (1, 1) and (clear.pairs, clear.reversed) == (6, 0)
    _, _, upside = compare_orders(spread(rng, [1, 2, 4, 8]), spread(rng, [8, 4, 2, 1]), 16.0)
    assert upside.tau.value == -1 and upside.reversed == 6
    _, _, noise = compare_orders(spread(rng, [1] * 6, noise=0.5), spread(rng, [1] * 6, noise=0.5), 16.0)
    low, high = noise.tau.interval()
    assert low < 0.5 and high - low > 0.4 and noise.reversed == 0


def test_the_halves_of_the_seeds_are_drawn_apart():
    board = spread(np.random.default_rng(1), [1, 2, 4], slots=5)
    even, odd = split_seeds(board)
    assert even.seeds[0].tolist() == [0, 2, 4] and odd.seeds[0].tolist() == [1, 3]
    first, second, result = compare_orders(even, odd, 16.0)
    assert result.tau.count == 5 and result.tau.value == 1
    assert first.draws.shape == second.draws.shape == (1000, 3)
    again = compare_orders(even, odd, 16.0)[2]
    assert again.tau.draws == result.tau.draws


SAME = {"least": (3, 2, 1, 2), "most": (3, 2, 1, 2)}


@given(boards(**SAME), boards(**SAME))
def test_an_interval_holds_its_estimate(first, second):
    _, _, result = compare_orders(first, second, 16.0, resamples=100)
    low, high = result.tau.interval()
    assert math.isnan(result.tau.value) or low <= result.tau.value <= high
    assert 0 <= result.reversed <= result.pairs


def test_an_order_agrees_with_itself():
    result = order_algorithms(spread(np.random.default_rng(2), [1, 3, 2]), 16.0, draw_resamples(8, 5, 200, 0))
    assert measure_agreement(result, result, 5).tau.interval() == (1, 1)


def test_percentiles_reach_to_the_number():
    assert Resampled(2.0, (0.0, 1.0), 3).interval(0.5) == (0.25, 2.0)
    assert Resampled(math.nan, (0.0,), 3).interval() == (-INF, INF)
    assert Resampled(0.5, (0.0, math.nan), 3).interval() == (-INF, INF)
    assert str(Resampled(0.5, (0.0, 1.0), 3)) == "0.5 (0.025 to 0.975)"


def test_algorithms_are_ranked():
    assert rank_algorithms(make_board([[[[30]]], [[[10]]], [[[INF]]], [[[20]]]])) == [1, 3, 0, 2]
    assert rank_algorithms(make_board([[[[-0.3]]], [[[-0.9]]], [[[math.nan]]]], log=False)) == [1, 0, 2]
