"""The check of what it costs to reach an accuracy."""

import pytest

from fedatlas.errors import UserError
from fedatlas.results.claims.verdicts import HELD, NOT_HELD, UNDECIDED, VACUOUS
from tests.synthetic import curves, table

from .fixtures import judged, view
from .test_exponent import costly, of_cost

SLOW = [("fedavg", 4, seed, [(0, 100), (10, 40), (20, 9), (40, 0.5)]) for seed in (0, 1)]
FAST = [("fedac-1", 4, 0, [(0, 100), (1, 30), (2, 7)]), ("fedac-1", 4, 1, [(0, 100), (1, 30), (2, 15), (4, 1)])]


def fewer(lines=(*SLOW, *FAST), **options):
    options = {"kind": "fewer", "algorithm": "fedac-1", "than": ["fedavg"], "reduction": 0.35} | options
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


def test_fewer_over_all_rounds():
    lines = [*SLOW, ("fedac-1", 4, 0, FAST[1][3]), ("fedac-1", 4, 1, FAST[1][3])]
    assert fewer(lines, reduction=None, cost="gradients", at_most=0.9) == (
        HELD,
        "1.2 times more than FedAvg (48 against 40 gradients per active client) at M = 4",
    )


def test_equal_costs_of_all_rounds_are_vacuous():
    lines = [*SLOW, ("fedac-1", 4, 0, SLOW[0][3]), ("fedac-1", 4, 1, SLOW[0][3])]
    assert fewer(lines, reduction=None, at_least=1)[0] == VACUOUS
    assert fewer(lines, at_least=1)[0] == HELD  # an accuracy could be attained at different costs


def test_fewer_wants_one_accuracy():
    with pytest.raises(UserError, match="give a reduction or a target, not both"):
        fewer(target=1, at_least=1)


def test_fewer_wants_a_cost():
    with pytest.raises(UserError, match="did you mean 'gradients'"):
        fewer(cost="gradient", at_least=1)


def test_fewer_needs_every_setting_and_seeds():
    points, curves = costly()
    last = (curves["problem.similarity"] == 4.0) & (curves["seed"] == 1)
    options = {"kind": "fewer", "algorithm": "dane", "than": ["slow"], "reduction": 1e-3, "at_least": 1}
    assert of_cost((points, curves[~last | (curves["round"] < 3)]), **options)["verdict"] == UNDECIDED
    assert of_cost(costly(seeds=1), **options)["verdict"] == UNDECIDED
