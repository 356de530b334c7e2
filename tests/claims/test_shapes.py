"""Simulated claims under noise that is not normal: verdicts on the typical run are wrong in one of twenty at most."""

import itertools

import pytest

from .shapes import SHAPES, most, rates


@pytest.mark.slow
@pytest.mark.parametrize(("shape", "sign"), list(itertools.product(SHAPES, (1, -1))))
def test_at_most_one_verdict_in_twenty_on_the_typical_run_is_wrong(shape, sign):
    wrong, decided = rates(shape, sign, claims=200, mean=False)
    assert wrong <= most(200), wrong
    assert decided > 0.01  # it is not safe by deciding nothing
