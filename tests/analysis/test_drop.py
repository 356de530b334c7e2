"""The check of how much is lost along an axis."""

import pytest

from fedatlas.analysis.claims import HELD, NOT_HELD, NOT_TESTED, check

from .synthetic import experiment, table


def verdict(scores, **options):
    """Verdict and text of a drop from 1 to 20 local steps. scores: of FedAvg at 1 and at 20."""
    made = experiment(grid={"local_steps": [1, 20]}, metric="test_accuracy", goal="max", algorithms=("fedavg",))
    options = {"kind": "drop", "algorithms": ["fedavg"], "axis": "local_steps", "start": 1, "end": 20} | options
    made["claims"] = {"it": {"text": "It drops.", "source": "Here", "check": options}}
    rows = [("fedavg", K, score) for K, score in scores.items()]
    found = check(made, table(rows, ("local_steps",), "test_accuracy"), None).iloc[0]
    return found["verdict"], found["ours"]


@pytest.mark.parametrize(
    "scores, bounds, expected",
    [
        ({1: 0.8, 20: 0.7}, {"at_least": 0.05}, HELD),
        ({1: 0.8, 20: 0.7}, {"at_most": 0.05}, NOT_HELD),
        ({1: 0.8, 20: 0.7}, {"at_least": 0.05, "at_most": 0.2}, HELD),
        ({1: 0.7, 20: 0.8}, {"at_least": 0}, NOT_HELD),
        ({1: 0.8, 20: float("-inf")}, {"at_least": 0}, NOT_HELD),
        ({1: 0.8}, {"at_least": 0}, NOT_TESTED),
    ],
)
def test_drop(scores, bounds, expected):
    assert verdict(scores, **bounds)[0] == expected


def test_the_drop_is_told():
    assert verdict({1: 0.8, 20: 0.7}, at_least=0)[1] == "FedAvg 0.1"
