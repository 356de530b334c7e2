"""Noise of many shapes, and how often verdicts are wrong under it: ``python -m tests.claims.shapes`` prints a table."""

import functools
import math
import sys

import numpy as np
from scipy import stats

from fedatlas.results.claims.evidence import Bounds, Evidence, judge_all
from fedatlas.results.claims.verdicts import EQUAL, HELD, NOT_HELD
from fedatlas.results.comparing.intervals import MATTERS, sample
from fedatlas.workflow.jobs.claims import judge_until_decided

ANALYSES = [5, 10, 20, 40]
EQUALITY = Bounds(1 / (1 + MATTERS), 1 + MATTERS)
WIDTH = 0.1  # of the noise of log ratios
FAR = 2.0  # log ratio of what is far off: a factor of 7


def _mixture(share):
    def draw(rng, size):
        return np.where(rng.random(size) < share, FAR / WIDTH, rng.standard_normal(size))

    return draw


# standard noise of log ratios by shape, skewed to the right; each is shifted by its median or its mean
SHAPES = {
    "normal": lambda rng, size: rng.standard_normal(size),
    "Student, 2 degrees": lambda rng, size: rng.standard_t(2, size),
    "exponential": lambda rng, size: rng.exponential(size=size),
    "gamma, shape 1/2": lambda rng, size: rng.gamma(0.5, 2.0, size),
    "lognormal, σ = 1": lambda rng, size: rng.lognormal(size=size),
    "5 percent far off": _mixture(0.05),
    "20 percent far off": _mixture(0.2),
}
# truths just on the wrong side of the line, or of what matters, and a clear lead of 5 percent
PLACES = [0.9999, 1.0001, EQUALITY.low * 0.9999, EQUALITY.high * 1.0001]


@functools.cache
def centre(shape, mean):
    """Return the median or the mean of a shape, from many draws."""
    draws = SHAPES[shape](np.random.default_rng(0), 4_000_000)
    return float(draws.mean() if mean else np.median(draws))


def ratios(rng, shape, sign, truth, mean=False):
    """Return ratios of each seed whose median, or geometric mean, is the truth."""
    noise = sign * (SHAPES[shape](rng, ANALYSES[-1]) - centre(shape, mean))
    return truth * np.exp(WIDTH * noise)


def bounded(rng, truth):
    """Return ratios of paired accuracies near 1, whose median is the truth.

    What an accuracy lacks of 1 is log-normal, and both sides of a pair share most of it.
    """
    shared = rng.standard_normal(ANALYSES[-1])
    lacks = [0.02 * np.exp(0.5 * shared + 0.2 * rng.standard_normal(ANALYSES[-1])) for _ in range(2)]
    return truth * (1 - lacks[0]) / (1 - lacks[1])


def verdict(values, mean, equality=EQUALITY):
    """Return the verdict of seeds until decided on the claim that the ratio is above 1."""

    def judge(count):
        numbers = sample(values[:count], log=True, mean=mean)
        return {"verdict": judge_all([Evidence(numbers, Bounds(1, open=True), equality=equality)]).verdict}

    return judge_until_decided(ANALYSES, len(ANALYSES), judge)[1]["verdict"]


def is_wrong(answer, truth, equality=EQUALITY):
    """Return whether a verdict is wrong, where the true ratio is known."""
    close = equality.low <= truth <= equality.high
    return (answer == HELD and truth <= 1) or (answer == NOT_HELD and truth > 1) or (answer == EQUAL and not close)


def rates(shape, sign, claims, mean, seed=0):
    """Return the largest shares of wrong and the mean share of decided verdicts over the places of the truth."""
    rng, worst, decided = np.random.default_rng([seed, sign + 1, mean]), 0.0, 0.0
    for truth in PLACES:
        answers = [verdict(ratios(rng, shape, sign, truth, mean), mean) for _ in range(claims)]
        worst = max(worst, np.mean([is_wrong(answer, truth) for answer in answers]))
        decided += np.mean([answer in (HELD, NOT_HELD, EQUAL) for answer in answers]) / len(PLACES)
    return worst, decided


def bounded_rates(claims, seed=0):
    """Return the same for accuracies near 1, where what matters is a share of what they lack."""
    rng, equality = np.random.default_rng(seed), Bounds(1 / (1 + MATTERS * 0.02), 1 + MATTERS * 0.02)
    worst, decided = 0.0, 0.0
    places = [0.99999, 1.00001, equality.low - 1e-5, equality.high + 1e-5]
    for truth in places:
        answers = [verdict(bounded(rng, truth), False, equality) for _ in range(claims)]
        worst = max(worst, np.mean([is_wrong(answer, truth, equality) for answer in answers]))
        decided += np.mean([answer in (HELD, NOT_HELD, EQUAL) for answer in answers]) / len(places)
    return worst, decided


def most(claims):
    """Return the share that is exceeded with a probability of 1e-4 if 5 percent are wrong."""
    return stats.binom.ppf(0.9999, claims, 0.05) / claims


def main():
    """Print the table as Markdown."""
    claims = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    print("| noise of log ratios | typical run: wrong | decided | mean, by Student alone: wrong |")
    print("|---|---|---|---|")
    for shape in SHAPES:
        wrong, decided, mean = 0.0, math.inf, 0.0
        for sign in (1, -1):
            rate = rates(shape, sign, claims, False)
            wrong, decided = max(wrong, rate[0]), min(decided, rate[1])
            mean = max(mean, rates(shape, sign, claims, True)[0])
        print(f"| {shape} | {100 * wrong:.1f} % | {100 * decided:.0f} % | {100 * mean:.1f} % |", flush=True)
    wrong, decided = bounded_rates(claims)
    print(f"| accuracies near 1, paired | {100 * wrong:.1f} % | {100 * decided:.0f} % | |")


if __name__ == "__main__":
    main()
