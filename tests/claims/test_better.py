"""The check that one algorithm is better than others, in scores or in what it costs to reach an accuracy."""

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
from tests.synthetic import curves, curves_of, table

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


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        ([1e-15, -1e-17], [1e-3, 2e-3], HELD),
        ([1e-3, 2e-3], [1e-15, -1e-17], NOT_HELD),
        ([1e-15, 1e-14], [1e-17, 0.0], VACUOUS),
        ([1e-15, 1e-14], [math.inf, math.inf], HELD),
    ],
)
def test_differences_below_the_floor_say_nothing(ours, theirs, expected):
    rows = [("fedac-1", 4, ours), ("fedavg", 4, theirs)]
    assert verdict(rows, **CONTEST, floor=1e-12)[0] == expected
    points = [*rows, ("fedac-1", 8, 0.1), ("fedavg", 8, 0.2)]
    result = verdict(points, **CONTEST, floor=1e-12)
    assert result[0] == (HELD if expected == VACUOUS else expected)
    assert ("not compared: FedAvg at M = 4." in result[2]) == (expected == VACUOUS)


def test_the_floor_of_a_large_score_is_above():
    experiment = view(metric="test_accuracy", goal="max")
    rows = [("fedac-1", 4, 0.995), ("fedavg", 4, 0.991)]
    assert verdict(rows, experiment=experiment, **CONTEST, floor=0.99)[0] == VACUOUS
    assert verdict(rows, experiment=experiment, **CONTEST, floor=0.999)[0] == HELD


SLOW = [("fedavg", 4, seed, [(0, 100), (10, 40), (20, 9), (40, 0.5)]) for seed in (0, 1)]
FAST = [("fedac-1", 4, 0, [(0, 100), (1, 30), (2, 7)]), ("fedac-1", 4, 1, [(0, 100), (1, 30), (2, 15), (4, 1)])]


def fewer(lines=(*SLOW, *FAST), **options):
    options = {
        "kind": "better",
        "cost": "rounds",
        "algorithm": "fedac-1",
        "than": ["fedavg"],
        "reduction": 0.35,
    } | options
    frame = curves(lines)
    frame["gradients"] = frame["round"] * frame["algorithm"].map({"fedavg": 1.0, "fedac-1": 12.0})
    result = judged(view(), table([("fedavg", 4, 0.5), ("fedac-1", 4, 1)]), frame, **options)
    return result["verdict"], result["ours"]


@pytest.mark.parametrize(
    ("options", "expected", "ours"),
    [
        ({"at_least": 20}, HELD, "20 times less than FedAvg (1 against 20 communication rounds)"),
        ({"at_least": 21}, NOT_HELD, "20 times less than FedAvg (1 against 20 communication rounds)"),
        (
            {"reduction": 0.12, "at_least": 2},
            UNDECIDED,
            "7.07 (0.0865 to 578) times less than FedAvg (2.83 against 20 communication rounds)",
        ),  # one seed is slow
        (
            {"target": 35.0, "reduction": None, "at_least": 20},
            HELD,
            "20 times less than FedAvg (1 against 20 communication rounds)",
        ),
        (
            {"cost": "gradients", "at_least": 0.5, "at_most": 2},
            HELD,
            "1.67 times less than FedAvg (12 against 20 gradients per active client)",
        ),
        (
            {"cost": "gradients", "at_most": 1.5},
            NOT_HELD,
            "1.67 times less than FedAvg (12 against 20 gradients per active client)",
        ),
        ({"reduction": 0.001, "at_least": 1}, UNDECIDED, "undefined"),
        (
            {"reduction": 0.005, "at_least": 1},
            NOT_HELD,
            "∞ times more than FedAvg (not attained against 40 communication rounds)",
        ),
        ({"algorithm": "fedavg", "than": ["fedac-1"], "reduction": 0.005, "at_least": 1}, HELD, "∞ times less"),
    ],
)
def test_costs_of_an_accuracy(options, expected, ours):
    result, text = fewer(**options)
    assert result == expected
    assert text.startswith(ours)


def test_equal_costs_of_all_rounds_are_vacuous():
    lines = [*SLOW, ("fedac-1", 4, 0, SLOW[0][3]), ("fedac-1", 4, 1, SLOW[0][3])]
    assert fewer(lines, reduction=None, at_least=1)[0] == VACUOUS
    assert fewer(lines, at_least=1)[0] == HELD  # an accuracy could be attained at different costs
