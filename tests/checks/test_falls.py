"""The check of rounds that fall along an axis."""

import pytest

from fedatlas.checks.verdicts import HELD, NOT_HELD, NOT_TESTED, UNDECIDED

from .made import verdict, view

MADE = view(("fedavg",), ("local_steps",), metric="suboptimality", tune=())
ROWS = [("fedavg", (K,), 0.1) for K in (1, 2, 4)]
FALLS = {"kind": "falls", "algorithms": ["fedavg"], "axis": "local_steps", "until": 0.1}


def reaching(power, seeds=3, spread=0.0, share=0.05):
    """Runs that attain a share of their first value after 64 / K^power rounds, a little sooner for later seeds."""
    found = []
    for K in (1, 2, 4):
        for seed in range(seeds):
            there = round(64 / K ** (power + spread * seed))
            first = 1.0 + seed
            found.append(("fedavg", K, seed, [(t, first * (1.0 if t < there else share)) for t in range(80)]))
    return found


@pytest.mark.parametrize(
    ("power", "seeds", "spread", "expected"),
    [(1, 3, 0, HELD), (0.5, 3, 0, NOT_HELD), (1, 3, 0.2, UNDECIDED), (1, 1, 0, UNDECIDED)],
)
def test_rounds_until_a_share(power, seeds, spread, expected):
    lines = reaching(power, seeds, spread)
    found = verdict(ROWS, ("local_steps",), MADE, lines=lines, at_least=0.9, at_most=1.1, **FALLS)
    assert found[0] == expected
    if expected == HELD:
        assert "exponent 1" in found[1]


def test_a_share_that_is_not_attained():
    found = verdict(ROWS, ("local_steps",), MADE, lines=reaching(1, share=0.2), at_least=0, **FALLS)
    assert found[0] == NOT_HELD and found[1].startswith("not attained")


def test_one_value_shows_no_slope():
    found = verdict(ROWS, ("local_steps",), MADE, lines=reaching(1), at_least=0, where={"local_steps": 2}, **FALLS)
    assert found[0] == NOT_TESTED
