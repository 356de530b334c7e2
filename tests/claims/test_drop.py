"""The check of how much is lost along an axis."""

import math

import pytest

from fedatlas.results.claims.verdicts import HELD, NOT_HELD, NOT_TESTED
from tests.synthetic import curves_of, table

from .fixtures import judged, view


def verdict(scores, rivals=None, **options):
    """Verdict and text of a drop from 1 to 20 local steps. scores: of FedAvg by local steps; rivals: of SCAFFOLD."""
    algorithms = ("fedavg", "scaffold")
    experiment = view(algorithms, ("local_steps",), "test_accuracy", "max")
    options = {"kind": "drop", "algorithms": ["fedavg"], "axis": "local_steps", "start": 1, "end": 20} | options
    pairs = zip(algorithms, (scores, rivals or {}), strict=True)
    rows = [(name, K, score) for name, result in pairs for K, score in result.items()]
    lines = curves_of(rows, ("local_steps",), "test_accuracy", "max")
    result = judged(experiment, table(rows, ("local_steps",), "test_accuracy"), lines, **options)
    return result["verdict"], result["ours"]


@pytest.mark.parametrize(
    "scores, bounds, expected",
    [
        ({1: 0.8, 20: 0.7}, {"at_least": 0.05}, HELD),
        ({1: 0.8, 20: 0.7}, {"at_most": 0.05}, NOT_HELD),
        ({1: 0.8, 20: 0.7}, {"at_least": 0.05, "at_most": 0.2}, HELD),
        ({1: 0.7, 20: 0.8}, {"at_least": 0}, NOT_HELD),
        ({1: 0.8, 20: -math.inf}, {"at_least": 0}, HELD),
        ({1: 0.8, 20: -math.inf}, {"at_most": 0.2}, NOT_HELD),
        ({1: -math.inf, 20: 0.8}, {"at_most": 0.2}, NOT_TESTED),
        ({1: -math.inf, 20: -math.inf}, {"at_least": 0}, NOT_TESTED),
        ({1: 0.8}, {"at_least": 0}, NOT_TESTED),
        ({1: 0.8, 20: 0.7}, {"above": 0}, HELD),
        ({1: 0.8, 20: 0.8}, {"at_least": 0}, HELD),
        ({1: 0.8, 20: 0.8}, {"above": 0}, NOT_HELD),
    ],
)
def test_drop(scores, bounds, expected):
    assert verdict(scores, **bounds)[0] == expected


SWING = {1: 0.8, 5: 0.84, 10: 0.79, 20: 0.81}


@pytest.mark.parametrize(
    "scores, at_most, expected",
    [(SWING, 0.051, HELD), (SWING, 0.049, NOT_HELD), ({1: 0.8}, 1, NOT_TESTED), (SWING | {20: -math.inf}, 1, NOT_HELD)],
)
def test_swing_over_an_axis(scores, at_most, expected):
    assert verdict(scores, start="best", end="worst", at_most=at_most)[0] == expected


@pytest.mark.parametrize(
    "rivals, expected", [({1: 0.8, 20: 0.6}, HELD), ({1: 0.8, 20: 0.75}, NOT_HELD), ({1: 0.8, 20: 0.7}, NOT_HELD)]
)
def test_the_smallest_drop(rivals, expected):
    result = verdict({1: 0.8, 20: 0.7}, rivals, above=0, than=["scaffold"])
    assert result[0] == expected and "10 points worse at K = 20 than at K = 1; SCAFFOLD loses" in result[1]


@pytest.mark.parametrize(("end", "expected"), [(0.788, HELD), (0.792, NOT_HELD), (0.7901, NOT_HELD)])
def test_a_drop_matters_by_what_the_accuracy_lacks(end, expected):
    """5 % of the 20 points that an accuracy of 0.8 lacks are one point."""
    result = verdict({1: 0.8, 20: end}, matters=0.05)
    assert result[0] == expected
