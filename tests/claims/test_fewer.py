"""The check of what it costs to reach an accuracy."""

import pytest

from fedatlas.results.claims.verdicts import HELD, NOT_HELD, UNDECIDED, VACUOUS
from tests.synthetic import curves, table

from .fixtures import judged, view

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
def test_fewer(options, expected, ours):
    verdict, text = fewer(**options)
    assert verdict == expected
    assert text.startswith(ours)


def test_equal_costs_of_all_rounds_are_vacuous():
    lines = [*SLOW, ("fedac-1", 4, 0, SLOW[0][3]), ("fedac-1", 4, 1, SLOW[0][3])]
    assert fewer(lines, reduction=None, at_least=1)[0] == VACUOUS
    assert fewer(lines, at_least=1)[0] == HELD  # an accuracy could be attained at different costs
