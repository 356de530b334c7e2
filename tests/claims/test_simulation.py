"""Simulated claims whose truth is known: how many verdicts are wrong."""

import itertools

import numpy as np
import pytest
from scipy import stats

from fedatlas.results.claims.evidence import MATTERS, Bounds, Evidence, judge_all, judge_any
from fedatlas.results.claims.verdicts import EQUAL, HELD, NOT_HELD
from fedatlas.results.comparing.intervals import sample

CLAIMS = 420  # for each of 24 kinds of claim: 10,080 in all
EQUALITY = Bounds(1 / (1 + MATTERS), 1 + MATTERS)


def is_wrong(verdict, effects, some):
    """Return whether a verdict is wrong, where the true ratios of all comparisons are known."""
    ahead = np.asarray(effects) > 1
    same = (EQUALITY.low <= np.asarray(effects)) & (np.asarray(effects) <= EQUALITY.high)
    claim = ahead.any() if some else ahead.all()
    if verdict == HELD:
        return not claim
    if verdict == NOT_HELD:
        return claim
    return verdict == EQUAL and not (same.any() if some else (ahead | same).all())


@pytest.mark.slow
def test_at_most_one_verdict_in_twenty_is_wrong():
    """True ratios are at the worst places: just on the wrong side of the line, or of what matters; some are clear."""
    places = [0.9999, 1.0001, EQUALITY.low * 0.9999, EQUALITY.high * 1.0001, 1.5, 0.7]
    for some, parts, seeds in itertools.product((False, True), (1, 2, 8), (2, 3, 5, 20)):
        rng = np.random.default_rng([seeds, parts, some])
        judge, wrong, decided = (judge_any if some else judge_all), 0, 0
        for _ in range(CLAIMS):
            effects = rng.choice(places, parts)
            noise = 0.02 * rng.choice([1, 3, 10]) * rng.standard_normal((parts, seeds))
            draws = np.exp(np.log(effects)[:, None] + noise)
            evidence = [Evidence(sample(row, log=True), Bounds(1, open=True), equality=EQUALITY) for row in draws]
            verdict = judge(evidence).verdict
            decided += verdict in (HELD, EQUAL, NOT_HELD)
            wrong += is_wrong(verdict, effects, some)
        allowed = stats.binom.ppf(0.9999, CLAIMS, 0.05)  # of so many that are wrong with a probability of 5 %
        assert wrong <= allowed, (some, parts, seeds, wrong / CLAIMS)
        assert decided >= 0.05 * CLAIMS, (some, parts, seeds)  # it is not safe by deciding nothing
