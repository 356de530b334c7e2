"""Simulated claims whose truth is known: how many verdicts are wrong, for fixed seeds and for seeds until decided."""

import functools
import itertools

import numpy as np
import pytest
from scipy import stats

from fedatlas.results.claims.evidence import Bounds, Evidence, judge_all
from fedatlas.results.claims.verdicts import EQUAL, HELD, NOT_HELD
from fedatlas.results.comparing.intervals import MATTERS, sample
from fedatlas.workflow.jobs.claims import judge_until_decided

CLAIMS = 420  # for each of 24 kinds of claim: 10,080 in all


EQUALITY = Bounds(1 / (1 + MATTERS), 1 + MATTERS)


# true ratios at the worst places: just on the wrong side of the line, or of what matters; some are clear
PLACES = [0.9999, 1.0001, EQUALITY.low * 0.9999, EQUALITY.high * 1.0001, 1.5, 0.7]


ANALYSES = [5, 10, 20, 40]


def is_wrong(verdict, effects, disjunction):
    """Return whether a verdict is wrong, where the true ratios of all comparisons are known."""
    ahead = np.asarray(effects) > 1
    same = (EQUALITY.low <= np.asarray(effects)) & (np.asarray(effects) <= EQUALITY.high)
    claim = ahead.any() if disjunction else ahead.all()
    if verdict == HELD:
        return not claim
    if verdict == NOT_HELD:
        return claim
    return verdict == EQUAL and not (same.any() if disjunction else (ahead | same).all())


def draw(rng, parts, seeds):
    """Return the true ratios of a claim's comparisons, and ratios of each seed (parts, seeds)."""
    effects = rng.choice(PLACES, parts)
    noise = 0.02 * rng.choice([1, 3, 10]) * rng.standard_normal((parts, seeds))
    return effects, np.exp(np.log(effects)[:, None] + noise)


def verdict(disjunction, ratios):
    evidence = [Evidence(sample(row, log=True), Bounds(1, open=True), equality=EQUALITY) for row in ratios]
    return judge_all(evidence, some=disjunction).verdict


def most_wrong(claims):
    """Return the number of wrong verdicts that is exceeded with a probability of 1e-4 if each is wrong with 5 %."""
    return stats.binom.ppf(0.9999, claims, 0.05)


@pytest.mark.slow
def test_seeds_until_decided_leave_one_verdict_in_twenty_wrong():
    """Claims get seeds until they are decided. Without the correction, half as many again are wrong."""
    claims, errors = 4 * CLAIMS, {1: 0, len(ANALYSES): 0}  # claims of each of 6 kinds; wrong verdicts by correction
    for disjunction, parts in itertools.product((False, True), (1, 2, 8)):
        rng = np.random.default_rng([parts, disjunction])
        wrong, decided = dict.fromkeys(errors, 0), dict.fromkeys(ANALYSES, 0)
        for _ in range(claims):
            effects, ratios = draw(rng, parts, ANALYSES[-1])
            by_count = [functools.partial(verdict, disjunction, ratios[:, :count]) for count in ANALYSES]
            for analyses in wrong:
                count, row = judge_until_decided(
                    ANALYSES, analyses, lambda n, by=by_count: {"verdict": by[ANALYSES.index(n)]()}
                )
                answer = row["verdict"]
                wrong[analyses] += is_wrong(answer, effects, disjunction)
            decided[count] += answer in (HELD, EQUAL, NOT_HELD)
        assert wrong[len(ANALYSES)] <= most_wrong(claims), (disjunction, parts, wrong)
        assert sum(decided.values()) >= 0.2 * claims and decided[ANALYSES[0]] < sum(decided.values()), decided
        errors = {analyses: errors[analyses] + wrong[analyses] for analyses in errors}
        print(disjunction, parts, wrong, decided)
    assert errors[1] > 1.5 * errors[len(ANALYSES)], errors
