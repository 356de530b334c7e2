"""Intervals: which numbers are within noise of the best, and exact intervals of medians and shares."""

import math

import numpy as np
import pytest
from scipy import stats

from fedatlas.results.claims.evidence import Bounds, Evidence, judge_all
from fedatlas.results.claims.verdicts import HELD, UNDECIDED
from fedatlas.results.comparing.intervals import (
    median_interval,
    needed_seeds,
    sample,
    several_analyses,
    share_interval,
    sign_p_value,
    within_noise,
)


@pytest.mark.parametrize(
    ("means", "sds", "counts", "goal", "flags"),
    [
        ([0.70, 0.69, 0.50], [0.02, 0.02, 0.02], [5, 5, 5], "max", [True, True, False]),
        ([0.70, 0.69, 0.50], [0.02, 0.02, 0.02], [5, 5, 5], "min", [False, False, True]),
        ([1.0, 1.05], [0.02, 0.02], [3, 3], "min", [True, False]),
        ([1.0, 1.05, 9.0], [0.02, 0.02, 0.02], [3, 3, 3], "min", [True, True, False]),  # of two rivals
        ([1.0, 1.0 + 1e-12, 1.1], [0.0, 0.0, 0.0], [3, 3, 3], "min", [True, True, False]),
        ([1e-80, 9e-80, 1e-70], [1e-81, 1e-81, 1e-81], [3, 3, 3], "min", [True, False, False]),
        ([1.0, 1.01], [math.nan, math.nan], [1, 1], "min", [True, False]),
        ([math.inf, 2.0, math.nan], [0.1, 0.1, 0.1], [2, 2, 2], "min", [False, True, False]),
        ([math.nan], [math.nan], [2], "min", [False]),
        ([1.24, 1.38, 2.68], [0.03, 0.02, 0.20], [3, 3, 3], "min", [True, False, False]),  # the worst scatters most
    ],
)
def test_bold_is_what_is_within_noise_of_the_best(means, sds, counts, goal, flags):
    assert within_noise(means, sds, counts, goal) == flags


@pytest.mark.parametrize(("level", "seeds"), [(0.05, 6), (0.0125, 8), (0.05 / 3, 7), (0.5, 2)])
def test_fewer_seeds_have_no_exact_interval(level, seeds):
    assert needed_seeds(level) == seeds
    assert median_interval(np.arange(seeds - 1.0), level) is None
    assert median_interval(np.arange(float(seeds)), level) == (0, seeds - 1)


@pytest.mark.parametrize("count", [6, 9, 10, 20, 40])
def test_the_interval_is_the_narrowest_that_holds_the_median_by_counts_alone(count):
    low, high = median_interval(np.arange(float(count)), 0.05)
    assert low + high == count - 1
    miss = 2 * stats.binom.cdf(low - 0.5, count, 0.5) if low else 2 * 0.5**count
    left_out = int(low)
    assert 2 * stats.binom.cdf(left_out, count, 0.5) <= 0.05 < 2 * stats.binom.cdf(left_out + 1, count, 0.5), miss


def test_where_seeds_may_be_added_a_look_waits_for_as_many_as_the_exact_test_needs():
    for count, verdict in ((5, UNDECIDED), (7, UNDECIDED), (8, HELD)):
        with several_analyses(4):
            ratios = np.linspace(1.5, 1.51, count)
            assert judge_all([Evidence(sample(ratios, log=True), Bounds(1, open=True))]).verdict == verdict
    assert judge_all([Evidence(sample(ratios[:5], log=True), Bounds(1, open=True))]).verdict == HELD  # fixed seeds


def test_a_share_has_the_interval_of_clopper_and_pearson():
    for count, total in ((0, 10), (1, 10), (5, 20), (10, 10)):
        expected = stats.binomtest(count, total).proportion_ci(0.95, method="exact")
        assert share_interval(count, total, 0.05) == pytest.approx((expected.low, expected.high))


def test_the_sign_test_is_the_binomial_one():
    values = np.array([1.0, 2.0, 3.0, 4.0, -1.0, math.inf])
    assert sign_p_value(values, 0.5) == pytest.approx(stats.binomtest(5, 6).pvalue)
