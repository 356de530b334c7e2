"""Exact intervals of the median and of a share, and the verdicts that need them."""

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
)


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
