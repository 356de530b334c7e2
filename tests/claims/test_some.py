"""Claims that hold if one setting is enough."""

import pytest

from fedatlas.results.claims.evidence import Bounds, Evidence, judge_all
from fedatlas.results.claims.verdicts import HELD, NOT_HELD, UNDECIDED
from fedatlas.results.comparing.intervals import sample


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
