"""Exponents of power laws."""

import math

import pytest

from fedatlas.results.claims.exponents import exponent
from fedatlas.results.claims.verdicts import NotTested


@pytest.mark.parametrize("power", [-1.0, 0.5, 2.0])
def test_the_exponent_of_a_power_law(power):
    assert exponent([1, 2, 4], [3 * x**power for x in (1, 2, 4)]) == pytest.approx(power)


def test_what_diverged_has_no_exponent():
    assert math.isnan(exponent([1, 2], [1.0, math.inf]))


@pytest.mark.parametrize(
    ("at", "numbers"), [([0, 1], [1, 2]), ([-1, 1], [1, 2]), ([1, math.inf], [1, 2]), ([1, 2], [0, 1])]
)
def test_what_has_no_logarithm_is_not_tested(at, numbers):
    with pytest.raises(NotTested, match="positive"):
        exponent(at, numbers)
