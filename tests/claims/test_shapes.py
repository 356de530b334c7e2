"""Simulated claims under noise that is not normal: verdicts on the typical run are wrong in one of twenty at most."""

import itertools

import numpy as np
import pytest

from .shapes import SHAPES, most, rates, ratios


@pytest.mark.slow
@pytest.mark.parametrize(("shape", "sign"), list(itertools.product(SHAPES, (1, -1))))
def test_at_most_one_verdict_in_twenty_on_the_typical_run_is_wrong(shape, sign):
    wrong, decided = rates(shape, sign, claims=200, mean=False)
    assert wrong <= most(200), wrong
    assert decided > 0.01  # it is not safe by deciding nothing


@pytest.mark.slow
def test_student_alone_would_be_wrong_more_often():
    """What the exact interval is for: without it, the median of skewed noise is judged by the mean."""
    rng = np.random.default_rng(1)
    mistakes = 0
    for _ in range(200):
        values = np.log(ratios(rng, "20 percent far off", 1, 0.9999))
        mistakes += values.mean() - 3 * values.std(ddof=1) / len(values) ** 0.5 > 0
    assert mistakes > 20
