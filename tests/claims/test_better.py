"""The check that one algorithm is better than others."""

import math

import pytest

from fedatlas.results.claims.verdicts import (
    EQUAL,
    HELD,
    MORE,
    NOT_HELD,
    NOT_TESTED,
    UNDECIDED,
    VACUOUS,
)
from tests.synthetic import curves_of, table

from .fixtures import judged, verdict, view

CONTEST = {"kind": "better", "algorithm": "fedac-1", "than": ["fedavg"]}


BETTER = [("fedac-1", 4, 0.1), ("fedavg", 4, 0.2), ("mb-sgd", 4, 0.4), ("fedac-1", 16, 0.1), ("fedavg", 16, 0.05)]


@pytest.mark.parametrize(
    ("where", "than", "factor", "expected"),
    [
        ({"clients": 4}, ["fedavg", "mb-sgd"], 1, HELD),
        ({"clients": 4}, ["fedavg", "mb-sgd"], 2, HELD),
        ({"clients": 4}, ["fedavg", "mb-sgd"], 2.1, NOT_HELD),
        ({"clients": "max"}, ["fedavg"], 1, NOT_HELD),
        ({"clients": "min"}, ["fedavg"], 1, HELD),
        ({}, ["fedavg"], 1, NOT_HELD),
        ({"clients": "max"}, ["fedavg"], 0.5, HELD),
        ({"clients": "max"}, ["mb-sgd"], 1, NOT_TESTED),
        ({"clients": 8}, ["fedavg"], 1, NOT_TESTED),
    ],
)
def test_better(where, than, factor, expected):
    result = verdict(
        BETTER,
        kind="better",
        algorithm="fedac-1",
        than=than,
        where=where,
        **({} if factor == 1 else {"at_least": factor}),
    )
    assert result[0] == expected


def test_a_comparison_of_equal_scores_is_vacuous():
    rows = [("fedac-1", 4, [0.1, 0.3]), ("fedavg", 4, [0.1, 0.3])]
    assert verdict(rows, **CONTEST)[0] == VACUOUS
    assert verdict(rows, **CONTEST, at_least=0.9)[0] == VACUOUS
    assert verdict([*rows, ("fedac-1", 8, 0.1), ("fedavg", 8, 0.2)], **CONTEST)[0] == EQUAL  # somewhere not better


@pytest.mark.parametrize(
    ("theirs", "expected"),
    [
        ([0.25, 0.24, 0.26], HELD),
        ([0.25, 0.05, 0.26], UNDECIDED),
        ([0.05, 0.04, 0.06], NOT_HELD),
        ([0.25, math.inf, 0.26], HELD),
        ([0.05, math.inf, 0.26], UNDECIDED),
        ([0.25], UNDECIDED),
    ],
)
def test_better_needs_an_interval_over_seeds(theirs, expected):
    ours = [0.1, 0.11, 0.1][: len(theirs)]
    assert verdict([("fedac-1", 4, ours), ("fedavg", 4, theirs)], **CONTEST)[0] == expected


def test_a_loss_below_zero_has_no_ratio():
    rows = [("fedac-1", 4, [-0.2, -0.3]), ("fedavg", 4, [-0.1, 0.1])]
    experiment = view(metric="loss")
    result, _, note = verdict(rows, experiment=experiment, **CONTEST)
    assert (result, note) == (NOT_TESTED, "Below 0 the training loss has no ratio: give `absolute` or another metric.")
    assert verdict(rows, experiment=experiment, **CONTEST, absolute=True, at_least=0.05)[0] == UNDECIDED
    diverged = [("fedac-1", 4, [0.5, 0.6]), ("fedavg", 4, [-math.inf, -math.inf])]
    assert verdict(diverged, experiment=view(metric="test_accuracy", goal="max"), **CONTEST)[0] == HELD
    assert verdict(rows, **CONTEST)[0] == HELD  # a suboptimality below 0 is rounding error


def test_better_compares_runs_of_one_seed():
    """Seeds differ a hundredfold, and in each seed one algorithm is 1.5 times as good."""
    ours = [0.001, 0.01, 0.1]
    rows = [("fedac-1", 4, ours), ("fedavg", 4, [1.5 * score for score in ours])]
    result = judged(view(), table(rows), curves_of(rows), **CONTEST)
    assert (result["verdict"], result["seeds"]) == (HELD, 3)
    assert [result[key] for key in ("value", "low", "high")] == pytest.approx([1.5] * 3)


def test_more_than_was_claimed():
    rows = [("fedac-1", 4, 0.1), ("fedavg", 4, 0.5)]
    assert verdict(rows, **CONTEST, at_least=2, at_most=4, more="above")[0] == MORE
    assert verdict(rows, **CONTEST, at_least=2, at_most=6, more="above")[0] == HELD
    linear = [("fedavg", m, 1 / m) for m in (4, 16, 64)]
    slope = {"kind": "exponent", "falls": True, "algorithms": ["fedavg"], "axis": "clients", "at_most": 0.9}
    assert verdict(linear, **slope, more="above")[0] == MORE
    assert verdict(linear, **slope, more="below")[0] == NOT_HELD
    assert verdict(linear, **slope)[0] == NOT_HELD


def test_a_claim_names_what_makes_it_vacuous():
    options = {**CONTEST, "where": {"clients": 4}}
    bound = {"kind": "reaches", "algorithms": ["fedac-1"], "at_most": 0.2}
    result = verdict(BETTER, **options, vacuous=bound)
    assert result[0] == VACUOUS and result[2].startswith(
        "Nothing is compared: FedAc-I: best suboptimality 0.1 at M = 4"
    )
    assert verdict(BETTER, **options, vacuous={**bound, "at_most": 0.05})[0] == HELD


@pytest.mark.parametrize(("ours", "theirs", "expected"), [(math.inf, 0.1, NOT_HELD), (0.1, math.inf, HELD)])
def test_better_than_what_diverged(ours, theirs, expected):
    rows = [("fedac-1", 4, ours), ("fedavg", 4, theirs)]
    assert verdict(rows, **CONTEST, at_least=10)[0] == expected


def test_better_where_large_is_good():
    experiment = view(metric="test_accuracy", goal="max")
    rows = [("fedac-1", 4, 0.9), ("fedavg", 4, 0.8)]
    assert verdict(rows, experiment=experiment, **CONTEST)[0] == HELD
    assert verdict(rows, experiment=experiment, kind="better", algorithm="fedavg", than=["fedac-1"])[0] == NOT_HELD


@pytest.mark.parametrize(("by", "expected"), [(0.09, HELD), (0.11, NOT_HELD)])
def test_better_by_an_amount(by, expected):
    accuracy = view(metric="test_accuracy", goal="max")
    rows = [("fedac-1", 4, 0.9), ("fedavg", 4, 0.8)]
    assert verdict(rows, experiment=accuracy, **CONTEST, absolute=True, at_least=by)[0] == expected
    assert verdict([("fedac-1", 4, 0.8), ("fedavg", 4, 0.9)], **CONTEST, absolute=True, at_least=by)[0] == expected
    several = [*BETTER[:2], ("fedac-1", 16, 0.1), ("fedavg", 16, 0.3)]
    assert verdict(several, **CONTEST, absolute=True, at_least=by)[0] == expected
