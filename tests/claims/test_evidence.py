"""Intervals over seeds, and the verdicts that they allow."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from fedatlas.results.claims.evidence import Bounds, Evidence, judge_all
from fedatlas.results.claims.verdicts import EQUAL, HELD, MORE, NOT_HELD, UNDECIDED, UNTESTED
from fedatlas.results.comparing.intervals import median_interval, sample

NUMBERS = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=9)


LIMITS = st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6)).map(sorted)


def verdict(values, low=-math.inf, high=math.inf, log=False, side=None):
    return judge_all([Evidence(sample(values, log), Bounds(low, high))], more=side).verdict


@given(NUMBERS)
def test_the_interval_is_students_and_that_of_the_median(values):
    low, high = sample(values).interval()
    if min(values) == max(values):
        assert low == high == values[0]
        return
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    student = (expected.low, expected.high)
    assert sample(values, mean=True).interval() == pytest.approx(student, rel=1e-6, abs=1e-6)
    median = median_interval(np.array(values), 0.05) or student  # fewer than six values have none
    expected = min(student[0], median[0]), max(student[1], median[1])
    assert (low, high) == pytest.approx(expected, rel=1e-6, abs=1e-6)


@given(st.lists(st.floats(1e-6, 1e6), min_size=2, max_size=9))
def test_ratios_have_the_interval_of_their_logarithms(values):
    low, high = sample(values, log=True).interval()
    logs = sample(np.log(values)).interval()
    assert (math.log(low), math.log(high)) == pytest.approx(logs, rel=1e-6, abs=1e-6)


@given(NUMBERS, LIMITS)
def test_the_verdict_follows_the_interval(values, limits):
    low, high = sample(values).interval()
    result = verdict(values, *limits)
    assert (result == HELD) == (limits[0] <= low and high <= limits[1])
    assert (result == NOT_HELD) == (high < limits[0] or low > limits[1])


INSIDE, CROSSING, BEYOND, SHORT = [1.4, 1.5, 1.6], [1.8, 2.0, 2.2], [2.9, 3.0, 3.1], [0.8, 1.0, 1.2]


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([CROSSING], HELD),
        ([INSIDE, CROSSING], HELD),
        ([CROSSING, BEYOND], MORE),
        ([INSIDE, BEYOND], MORE),
        ([SHORT, BEYOND], UNDECIDED),
        ([[0.1, 0.1, 0.1], BEYOND], NOT_HELD),
    ],
)
def test_more_needs_a_part_that_is_wholly_beyond(parts, expected):
    """Bounds from 1 to 2; all numbers above pass."""
    assert judge_all([Evidence(sample(values), Bounds(1, 2)) for values in parts], more="above").verdict == expected
    mirrored = [Evidence(sample(-value for value in values), Bounds(-2, -1)) for values in parts]
    assert judge_all(mirrored, more="below").verdict == expected


def test_a_mean_that_cannot_be_negative_has_no_negative_end():
    scattered = sample([0.8, -0.5, 0.3, -0.4], mean=True, least=0)
    assert scattered.interval()[0] == 0 < scattered.value < scattered.interval()[1]
    assert scattered.text().startswith("0.05 (0 to ")
    plain = sample([0.8, -0.5, 0.3, -0.4], mean=True)
    assert plain.interval()[0] < 0 and plain.interval()[1] == scattered.interval()[1]


def test_one_of_many_parts_fails_only_if_it_surely_does():
    """At the level of one comparison the second part fails; with 20 comparisons chance explains it."""
    fine, doubtful = Evidence(sample([2.0, 2.1, 2.0]), Bounds(1)), Evidence(sample([0.5, 0.6, 0.7]), Bounds(1))
    assert judge_all([doubtful]).verdict == NOT_HELD
    assert judge_all([fine] * 20 + [doubtful]).verdict == UNDECIDED
    assert judge_all([fine] * 20).verdict == HELD


def test_the_part_that_refutes_decides():
    """The widest interval has the lowest end, but says nothing; the claim fails by another part."""
    wide, clear = Evidence(sample([0.1, 2.0, 9.0]), Bounds(1), "{} wide"), Evidence(sample([0.7, 0.71]), Bounds(1))
    for parts in ([wide, clear], [clear, wide], [clear, wide, wide, clear]):
        outcome = judge_all(parts)
        assert outcome.verdict == NOT_HELD
        assert outcome.value == pytest.approx(0.705) and outcome.high < 1
    assert judge_all([clear, wide, wide, clear]).text.startswith("at worst 0.705")
    assert judge_all([wide, Evidence(sample([3.0, 3.1]), Bounds(1))]).value == pytest.approx(3.7)


SAME = Bounds(1 / 1.05, 1.05)


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([[1.01, 1.02, 1.01]], EQUAL),
        ([[0.99, 0.98, 0.99]], EQUAL),  # surely behind, by less than what matters
        ([[1.04, 1.08, 1.06]], HELD),
        ([[0.9, 1.1, 1.0]], UNDECIDED),
        ([[0.9, 0.91, 0.9]], NOT_HELD),
        ([[1.01, 1.02, 1.01], [2.0, 2.1, 2.0]], EQUAL),
        ([[1.01, 1.02, 1.01], [0.9, 1.1, 1.0]], UNDECIDED),
        ([[1.01, 1.02, 1.01], [0.5, 0.51, 0.5]], NOT_HELD),
    ],
)
def test_less_than_what_matters_is_equal(parts, expected):
    evidence = [Evidence(sample(values, log=True), Bounds(1, open=True), equality=SAME) for values in parts]
    assert judge_all(evidence).verdict == expected
    if len(parts) == 1:
        assert judge_all(evidence, some=True).verdict == expected


@given(NUMBERS, st.floats(-1e6, 1e6))
def test_a_p_value_below_the_level_decides(values, bound):
    outcome = judge_all([Evidence(sample(values), Bounds(bound))])
    if (p := outcome.p) is not None and abs(p - 0.05) > 1e-6:
        decided = outcome.verdict in (HELD, NOT_HELD)
        assert decided if p < 0.05 else not decided or bound in values  # of exact tests, ties make p larger


def test_p_values_of_several_parts():
    """A claim about all parts is refuted by the smallest p-value times their number, and shown by the largest."""
    parts = [Evidence(sample(values), Bounds(1)) for values in ([2.0, 2.1, 2.3], [3.0, 3.4, 3.1])]
    p_values = [judge_all([part]).p for part in parts]
    assert judge_all(parts).p == max(p_values)
    refuted = Evidence(sample([0.1, 0.2, 0.15]), Bounds(1))
    assert judge_all([*parts, refuted]).p == pytest.approx(3 * judge_all([refuted]).p)


def test_one_seed_decides_where_runs_are_deterministic():
    outcome = judge_all([Evidence(sample([2.0], exact=True), Bounds(1))])
    assert (outcome.verdict, outcome.seeds) == (HELD, 1)
    assert outcome.note == "The runs are deterministic, so one seed decides."
    assert judge_all([Evidence(sample([2.0]), Bounds(1))]).verdict == UNDECIDED


REASON = "SCAFFOLD diverges."


@pytest.mark.parametrize(("values", "expected"), [(None, UNTESTED), (2.0, UNTESTED), (0.5, NOT_HELD)])
def test_a_failure_that_nobody_tuned_proves_nothing(values, expected):
    """What is left can refute the claim, and cannot show it."""
    evidence = [] if values is None else [Evidence(sample([values, values]), Bounds(1))]
    outcome = judge_all(evidence, failed=[REASON, REASON])
    assert outcome.verdict == expected and outcome.note == REASON
    answer = judge_all(evidence, some=True, failed=[REASON]).verdict
    assert answer == (HELD if values == 2.0 else UNTESTED)


def test_an_open_bound_excludes_its_end():
    assert judge_all([Evidence(sample([1.0, 1.0]), Bounds(1, open=True))]).verdict == NOT_HELD
    assert judge_all([Evidence(sample([1.0, 1.0]), Bounds(1))]).verdict == HELD


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([[1.0, 1.1, 1.2], [-1.0, -1.1, -1.2]], HELD),
        ([[-1.0, -1.1, -1.2], [-2.0, -2.1]], NOT_HELD),
        ([[-1.0, -1.1, -1.2], [-0.1, 0.2]], UNDECIDED),
        ([[0.1, 0.5, 0.9], [-1.0, -1.1]], UNDECIDED),  # positive alone at half the level
    ],
)
def test_one_part_may_be_enough(rows, expected):
    outcome = judge_all([Evidence(sample(row), Bounds(0, open=True)) for row in rows], some=True)
    assert outcome.verdict == expected
