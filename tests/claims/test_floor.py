"""Comparisons of scores that are as good as can be told."""

import math

import pytest

from fedatlas.results.claims.verdicts import HELD, NOT_HELD, VACUOUS

from .fixtures import verdict, view

CONTEST = {"kind": "better", "algorithm": "fedac-1", "than": ["fedavg"]}


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
