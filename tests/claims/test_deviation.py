"""The deviation of simulations from closed forms."""

import pytest

from fedatlas.results.claims.verdicts import HELD, NOT_HELD, NOT_TESTED
from fedatlas.theory.closed_forms import fedavg_output

from .fixtures import verdict, view

CENTERS = {"centers": [[0], [100]]}
AXES = ("participation.p.0",)
MADE = view(
    ("fedavg", "fedawe"),
    AXES,
    problem={"kind": "quadratic", **CENTERS},
    setting={"clients": 2, "participation": {"kind": "stationary", "p": [0.5, 0.5]}},
)


def lines(shift=0.0, spread=1.0, seeds=4):
    """Time means that scatter about the closed form: +-spread by seed, moved by shift."""
    result = []
    for p in (0.2, 0.8):
        limit = fedavg_output(CENTERS, [p, 0.5]) + shift
        for seed in range(seeds):
            value = limit + spread * (-1) ** seed
            result.append(("fedavg", p, seed, [(0, 1e9), (10, value - 2), (20, value + 2)]))
    return result


AGREES = {
    **{"kind": "reaches", "quantity": "deviation", "algorithms": ["fedavg"]},
    **{"limit": "fedavg-output", "metric": "suboptimality", "after": 10},
}
ROWS = [("fedavg", (p,), 0.1) for p in (0.2, 0.8)]


@pytest.mark.parametrize(
    ("shift", "seeds", "expected"),
    [(0.0, 4, HELD), (2.0, 4, HELD), (8.0, 4, NOT_HELD), (2.0, 20, NOT_HELD), (0.0, 1, NOT_TESTED)],
)
def test_deviations_over_seeds(shift, seeds, expected):
    # standard error 2 / sqrt(12) of 4 seeds: t = 3.5 sigma of shift 2 is no surprise for 3 degrees of freedom
    curves = [(a, p, s, [(r, v) for r, v in values]) for a, p, s, values in lines(shift, seeds=seeds)]
    result = verdict(ROWS, AXES, MADE, lines=curves, **AGREES)
    assert result[0] == expected
    if expected != NOT_TESTED:
        assert "over 2 settings" in result[1]


def test_deviations_without_any_spread():
    assert verdict(ROWS, AXES, MADE, lines=lines(0, 0), **AGREES)[0] == HELD
    assert verdict(ROWS, AXES, MADE, lines=lines(1e-3, 0), **AGREES)[0] == NOT_HELD


def test_what_passes_is_by_default_that_quantile():
    result = verdict(ROWS, AXES, MADE, lines=lines(8.0, seeds=4), at_most=20, **AGREES)
    assert result[0] == HELD and "20 are allowed" in result[2]
