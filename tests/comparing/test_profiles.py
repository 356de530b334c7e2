"""Performance profiles and their bands."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fedatlas.results.comparing.profiles import (
    compute_profile,
    performance_ratios,
    profile_areas,
)

from .fixtures import boards, make_board

INF = math.inf


AT = np.array([1.0, 1.5, 2.0, 4.0])


# two algorithms on three problems, with one target and one seed
SMALL = [[[[10]], [[30]], [[INF]]], [[[20]], [[20]], [[8]]]]


def slow(numbers, at):
    """The profile as Dolan and Moré write it, with a loop over all instances."""
    algorithms, problems, targets, slots = numbers.shape
    result = np.zeros((algorithms, len(at)))
    for a in range(algorithms):
        for k, r in enumerate(at):
            for p in range(problems):
                solved = 0
                for t in range(targets):
                    for s in range(slots):
                        costs = [c for c in numbers[:, p, t, s] if not math.isnan(c)]
                        best, cost = min(costs, default=INF), numbers[a, p, t, s]
                        solved += math.isfinite(cost) and (cost == best or cost / best <= r)
                result[a, k] += solved / (targets * slots) / problems
    return result


def test_a_small_profile_by_hand():
    board = make_board(SMALL)
    assert performance_ratios(board.numbers).reshape(2, 3).tolist() == [[1, 1.5, INF], [2, 1, 1]]
    share, _, _ = compute_profile(performance_ratios(board.numbers), AT)
    np.testing.assert_allclose(share, [[1 / 3, 2 / 3, 2 / 3, 2 / 3], [2 / 3, 2 / 3, 1, 1]])


def test_nobody_solves_what_nobody_attains():
    assert performance_ratios(np.full((2, 1, 1, 1), INF)).ravel().tolist() == [INF, INF]
    assert compute_profile(performance_ratios(np.full((2, 1, 1, 1), INF)), AT)[0].max() == 0


@given(boards())
def test_a_profile_is_the_loop_over_instances(board):
    np.testing.assert_allclose(
        compute_profile(performance_ratios(board.numbers), AT, resamples=2)[0], slow(board.numbers, AT)
    )


@given(boards())
def test_profiles_rise_and_bands_hold_them(board):
    share, low, high = compute_profile(performance_ratios(board.numbers), AT, resamples=400)
    for line in (share, low, high):
        assert (np.diff(line, axis=1) >= 0).all() and line.min() >= 0 and line.max() <= 1 + 1e-12
    assert (low <= share + 1e-12).all() and (share <= high + 1e-12).all()


@given(boards(), st.lists(st.sampled_from([0.25, 2.0, 8.0]), min_size=4, max_size=4))
def test_the_unit_of_a_problem_does_not_matter(board, factors):
    scaled = board.numbers * np.array(factors[: len(board.problems)])[:, None, None]
    np.testing.assert_array_equal(performance_ratios(scaled), performance_ratios(board.numbers))


@given(boards(least=(2, 1, 1, 1)))
def test_an_area_is_that_under_the_profile(board):
    within = 16.0
    fine = np.exp2(np.linspace(0, 4, 16001))
    under = np.trapezoid(
        compute_profile(performance_ratios(board.numbers), fine, resamples=2)[0], np.linspace(0, 1, 16001), axis=1
    )
    np.testing.assert_allclose(profile_areas(board.numbers, within).mean(axis=(1, 2)), under, atol=2e-4)


def test_bands_cover_the_share_of_the_population():
    """Of 60 seeds with which an algorithm solves a problem with probability 0.6, about 95 % of bands hold 0.6."""
    rng, held = np.random.default_rng(0), 0
    for _ in range(200):
        numbers = np.where(rng.random(60) < 0.6, 1.0, INF)[None, None, None]
        _, low, high = compute_profile(numbers, np.array([1.0]), resamples=300)
        held += low[0, 0] <= 0.6 <= high[0, 0]
    assert 0.88 <= held / 200 <= 0.99


def test_bands_have_no_width_where_all_seeds_agree():
    result = compute_profile(np.array([[[[1.0, 1.0, 1.0]], [[INF] * 3]]]), np.array([1.0]))
    assert [line[0, 0] for line in result] == [0.5] * 3
