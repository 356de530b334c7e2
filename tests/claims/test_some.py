"""Claims that hold if one setting is enough."""

import pytest

from fedatlas.results.claims.evidence import Bounds, Evidence, judge_any
from fedatlas.results.claims.verdicts import HELD, NOT_HELD, UNDECIDED
from fedatlas.results.comparing.intervals import sample
from tests.claims.fixtures import verdict

CONTEST = {"kind": "better", "algorithm": "fedac-1", "than": ["fedavg"]}


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
    outcome = judge_any([Evidence(sample(row), Bounds(0, open=True)) for row in rows])
    assert outcome.verdict == expected


def test_better_in_some_setting():
    rows = [("fedac-1", 4, 0.1), ("fedavg", 4, 0.2), ("fedac-1", 8, 0.3), ("fedavg", 8, 0.2)]
    assert verdict(rows, **CONTEST)[0] == NOT_HELD
    result = verdict(rows, **CONTEST, some=True)
    assert result[0] == HELD and result[1].startswith("in 1 of 2 comparisons; at best 2 times better than FedAvg")
    assert verdict(rows[2:], **CONTEST, some=True)[0] == NOT_HELD
