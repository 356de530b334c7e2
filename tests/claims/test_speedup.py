"""The check of what falls along an axis, by the rounds to an accuracy."""

import pytest

from fedatlas.results.claims.verdicts import HELD, NOT_HELD, NOT_TESTED, UNDECIDED

from .fixtures import verdict, view

MADE = view(("fedavg",), ("local_steps",), metric="suboptimality", tune=())
ROWS = [("fedavg", (K,), 0.1) for K in (1, 2, 4)]
FALLS = {"kind": "speedup", "algorithms": ["fedavg"], "axis": "local_steps", "until": 0.1}


def reaching(power, seeds=3, spread=0.0, share=0.05):
    """Runs that attain a share of their first value after 64 / K^power rounds, a little sooner for later seeds."""
    result = []
    for K in (1, 2, 4):
        for seed in range(seeds):
            arrival = round(64 / K ** (power + spread * seed))
            first = 1.0 + seed
            result.append(("fedavg", K, seed, [(t, first * (1.0 if t < arrival else share)) for t in range(80)]))
    return result


@pytest.mark.parametrize(
    ("power", "seeds", "spread", "expected"),
    [(1, 3, 0, HELD), (0.5, 3, 0, NOT_HELD), (1, 3, 0.2, UNDECIDED), (1, 1, 0, UNDECIDED)],
)
def test_rounds_until_a_share(power, seeds, spread, expected):
    lines = reaching(power, seeds, spread)
    result = verdict(ROWS, ("local_steps",), MADE, lines=lines, at_least=0.9, at_most=1.1, **FALLS)
    assert result[0] == expected
    if expected == HELD:
        assert result[1] == "FedAvg: exponent 1 of the speed-up of the rounds to 0.1 of the first suboptimality in K"


@pytest.mark.parametrize("bounds", [{"at_least": 0}, {"at_most": 0.5}, {"at_least": 0.9, "at_most": 1.1}])
def test_a_share_that_is_not_attained_measures_no_exponent(bounds):
    """A miss is no evidence against a claim that the rounds cannot be reduced, and none for it."""
    result = verdict(ROWS, ("local_steps",), MADE, lines=reaching(1, share=0.2), **bounds, **FALLS)
    assert result[0] == NOT_TESTED and result[2] == "Not attained by FedAvg."


def test_a_single_run_that_misses_the_share_is_enough():
    lines = [run if run[1:3] != (4, 2) else (*run[:3], [(t, 1.0) for t in range(80)]) for run in reaching(1)]
    result = verdict(ROWS, ("local_steps",), MADE, lines=lines, at_least=0, **FALLS)
    assert result[0] == NOT_TESTED and "ot attained" in result[2]


@pytest.mark.parametrize("bounds", [{"at_least": 0}, {"at_most": 0.5}])
def test_a_run_that_diverges_is_not_held(bounds):
    lines = [run if run[1:3] != (4, 2) else (*run[:3], [(0, 1.0), (1, float("inf"))]) for run in reaching(1)]
    assert verdict(ROWS, ("local_steps",), MADE, lines=lines, **bounds, **FALLS)[:2] == (NOT_HELD, "FedAvg diverged")


def test_one_value_shows_no_slope():
    result = verdict(ROWS, ("local_steps",), MADE, lines=reaching(1), at_least=0, where={"local_steps": 2}, **FALLS)
    assert result[0] == NOT_TESTED
