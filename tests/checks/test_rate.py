"""The check of rates."""

import math

import pytest

from fedatlas.checks.judging import HELD, NOT_HELD, NOT_TESTED

from .made import verdict, view

MADE = view(("fedavg", "fedac-1"), ("local_steps",), metric="suboptimality", tune=())
ROWS = [("fedavg", (K,), 0.1) for K in (1, 2, 4)]
RATE = {"kind": "rate", "algorithms": ["fedavg"], "axis": "local_steps", "until": 0.1}


def reaching(power, seeds=3, spread=0.0, share=0.05):
    """Runs that attain a share of their first value after 64 / K^power rounds, a little later for later seeds."""
    found = []
    for K in (1, 2, 4):
        for seed in range(seeds):
            there = round(64 / K ** (power + spread * seed))
            found.append(("fedavg", K, seed, [(t, 1.0 if t < there else share) for t in range(0, 80)]))
    return found


@pytest.mark.parametrize(
    ("power", "seeds", "spread", "expected"),
    [(1, 3, 0, HELD), (0.5, 3, 0, NOT_HELD), (1, 3, 0.2, NOT_HELD), (1, 1, 0, NOT_TESTED)],
)
def test_rounds_until_a_share(power, seeds, spread, expected):
    lines = reaching(power, seeds, spread)
    found = verdict(ROWS, ("local_steps",), MADE, lines=lines, at_least=0.9, at_most=1.1, **RATE)
    assert found[0] == expected
    if expected == HELD:
        assert found[1].startswith("exponent 1.000")


def test_a_share_that_is_not_attained():
    found = verdict(ROWS, ("local_steps",), MADE, lines=reaching(1, share=0.2), at_least=0, **RATE)
    assert found[:2] == (NOT_HELD, "diverged, or the share is not attained")


@pytest.mark.parametrize(("decay", "expected"), [(1.0, HELD), (0.25, NOT_HELD)])
def test_mean_squares_over_the_rounds_of_a_run(decay, expected):
    """Squares whose sum to T - 1 grows as T^(1 - decay) have a mean that falls as T^-decay."""
    axes = ("clients",)
    made, rows, lines = view(("fedavg", "fedac-1"), axes, tune=()), [], []
    for name, T in (("fedavg", 64), ("fedac-1", 256)):
        rows.append((name, (8,), 0.1))
        square = [0.0, T ** (1 - decay), *[0.0] * (T - 2), 1e9]  # neither round 0 nor round T counts
        for seed in (0, 1):
            lines.append((name, 8, seed, [(t, math.sqrt(value)) for t, value in enumerate(square)]))
    found = verdict(rows, axes, made, lines=lines, kind="rate", algorithms=["fedavg", "fedac-1"], at_least=0.9)
    assert found[0] == expected and f"exponent {decay:.3f}" in found[1]
