"""The check of the first round that attains a target, where metrics are evaluated every few rounds."""

import pytest

from fedatlas.results.claims.verdicts import HELD, NOT_HELD

from .fixtures import verdict


def trajectories(spacing, arrival, last=400):
    """Runs of three seeds, evaluated every few rounds, that attain 0.1 from the round ``arrival`` on."""
    return [
        ("fedavg", 4, s, [(t, 0.1 if t >= arrival else 1.0) for t in range(0, last + 1, spacing)]) for s in range(3)
    ]


@pytest.mark.parametrize(
    ("spacing", "arrival", "paper", "expected"),
    [
        (5, 344, 344, HELD),  # an exact replication, seen in round 345
        (5, 346, 344, NOT_HELD),  # seen in round 350
        (5, 345, 345, HELD),
        (5, 346, 345, NOT_HELD),
        (1, 344, 344, HELD),
        (1, 345, 344, NOT_HELD),
        (5, 100, 344, HELD),  # fewer rounds count as well
        (5, 500, 450, NOT_HELD),  # never, and no round is evaluated after the paper's
        (5, 390, 450, HELD),
    ],
)
def test_the_bound_is_the_first_evaluated_round_that_is_not_earlier(spacing, arrival, paper, expected):
    options = {"kind": "first_round", "algorithm": "fedavg", "target": 0.2, "paper": paper}
    assert verdict([("fedavg", 4, 1)], lines=trajectories(spacing, arrival), **options)[0] == expected
