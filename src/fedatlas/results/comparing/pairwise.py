"""Comparison of algorithms on a problem: which are within noise of the best, and which of two is better.

Runs of one seed are compared, by the ratio of their numbers or by the difference. Algorithms differ where the Student t
interval of the mean over seeds excludes equality. Intervals against the best of many algorithms are widened by
Bonferroni's correction for the number of rivals. So the algorithm that is truly the best on a problem, whichever it is,
is called worse with a probability of at most the level, as in multiple comparisons with the best (Hsu 1984).

Numbers whose ratio is within 5 %, the smallest effect that matters to claims as well, or whose difference is within the
resolution of the evaluation, are practically equal. Two algorithms have a share of paired runs that the first one wins,
where runs that are practically equal count one half (Agarwal et al. 2021). Its interval is Clopper and Pearson's, which
misses it with at most the level however few runs there are. A difference counts where it is significant and
meaningful, as Bouthillier et al. (2021) demand: the interval of the paired ratio excludes equality, and at least 75 %
of the runs are won.

A diverged run loses against a finite one, and two diverged runs are a tie. Where a run of a pair diverged, ratios have
no mean, so the exact interval of their median decides alone, which is the sign test: it asks for no more than which of
the two is better on each instance. Where there are too few seeds for it, nothing is said, unless all runs of one
algorithm diverge and none of the other.
"""

import math
from typing import Literal, NamedTuple

import numpy as np

from fedatlas.results.comparing.benchmark import Array, Benchmark
from fedatlas.results.comparing.intervals import (
    LEVEL,
    MATTERS,
    Sample,
    match_seeds,
    needed_seeds,
    sample,
    share_interval,
)

MEANINGFUL = 0.75  # share of runs that a meaningful difference wins (Bouthillier et al. 2021)

Side = Literal["ahead", "behind", "even"]


class Standing(NamedTuple):
    """The standing of an algorithm on a problem.

    loss: its number relative to the best algorithm's, a ratio or a difference; NaN where it attains the target with no
    seed. low, high: ends of the loss's interval. near: whether it is the best or within noise of it. attained, seeds:
    number of runs that attain the target, and of all runs.
    """

    loss: float = math.nan
    low: float = math.nan
    high: float = math.nan
    near: bool = False
    attained: int = 0
    seeds: int = 0


def pairwise_gap(benchmark: Benchmark, first: int, second: int, problem: int, ties: bool = False) -> Sample:
    """Return the first algorithm's number on a problem relative to the second's, a ratio or a difference, by seed.

    It is infinite where the second's number alone is finite. Seeds on which neither number is finite have no gap, and
    make the interval the whole line, unless they are ties.

    Args:
        benchmark: The numbers.
        first: Position of the algorithm.
        second: Position of the algorithm that it is compared with.
        problem: Position of the problem.
        ties: Whether two infinite numbers are equal, as scores of diverged runs are. Of two runs that miss a target,
            nobody knows which would attain it first.
    """
    tie = _equality(benchmark.log) if ties else math.nan
    pairs = match_seeds(*(benchmark.by_seed(a, problem) for a in (first, second)))
    return sample((_relative(*pair, benchmark.log, tie) for pair in pairs), benchmark.log)


def _equality(log: bool) -> float:
    return 1.0 if log else 0.0


def _relative(ours: float, theirs: float, log: bool, tie: float) -> float:
    """Return a number relative to another; ``tie`` where neither is finite."""
    if not (math.isfinite(ours) or math.isfinite(theirs)):
        return tie
    if not math.isfinite(theirs):
        return 0.0 if log else -math.inf
    if not log:
        return ours - theirs
    if theirs == 0:
        return 1.0 if ours == 0 else math.inf
    return ours / theirs


def standings(benchmark: Benchmark, problem: int) -> list[Standing]:
    """Return the standing of each algorithm on a problem, in the benchmark's order, at the first target.

    The best attains the target with the largest share of its seeds, and among such algorithms has the smallest mean
    over seeds, which is geometric for costs. No algorithm is the best where none attains the target.

    Args:
        benchmark: The numbers.
        problem: Position of the problem.
    """
    runs = [benchmark.by_seed(a, problem) for a in range(len(benchmark.algorithms))]
    attained = [sum(map(math.isfinite, numbers.values())) for numbers in runs]
    rivals, equality = max(1, sum(map(bool, runs)) - 1), _equality(benchmark.log)
    best = min(
        (a for a, count in enumerate(attained) if count),
        key=lambda a: (-attained[a] / len(runs[a]), sample(runs[a].values(), benchmark.log).value),
        default=-1,
    )
    result = []
    for a, numbers in enumerate(runs):
        counts = attained[a], len(numbers)
        if not attained[a]:
            result.append(Standing(seeds=len(numbers)))
        elif a == best:
            result.append(Standing(equality, equality, equality, True, *counts))
        else:
            gap = pairwise_gap(benchmark, a, best, problem)
            low, high = gap.interval(LEVEL / rivals)
            result.append(Standing(gap.value if gap.values else math.nan, low, high, low <= equality, *counts))
    return result


def won(ours: Array, theirs: Array, margin: float = MATTERS, resolution: Array | float = 0.0) -> Array:
    """Return 1 where the first number is better, 0 where it is worse, and 1/2 where both are practically equal.

    Args:
        ours: Numbers, of which small ones are good.
        theirs: The numbers that they are compared with.
        margin: Differences up to this share of the smaller number are equal.
        resolution: Differences up to this are equal.
    """
    ours, theirs = np.asarray(ours, float), np.asarray(theirs, float)
    with np.errstate(invalid="ignore"):  # of infinite numbers, which are equal to each other alone
        most = np.maximum(margin * np.minimum(np.abs(ours), np.abs(theirs)), resolution) * (1 + 1e-12)
        near = np.isfinite(ours) & np.isfinite(theirs) & (np.abs(ours - theirs) <= most)
    equal = near | (ours == theirs)
    return np.where(equal, 0.5, ours < theirs)


class Estimate(NamedTuple):
    """A number and the ends of its interval."""

    value: float
    low: float
    high: float


class PairedComparison(NamedTuple):
    """A comparison of an algorithm with a rival on a problem.

    Attributes:
        won: Share of paired runs in which it is better.
        side: ``ahead`` or ``behind`` where the difference is significant and meaningful, else ``even``.
    """

    won: Estimate
    side: Side


def compare_pair(
    benchmark: Benchmark, first: int, second: int, problem: int, level: float = LEVEL, rivals: int = 1
) -> PairedComparison:
    """Return the comparison of two algorithms on a problem.

    Args:
        benchmark: Scores of all algorithms.
        first: Position of the algorithm.
        second: Position of its rival.
        problem: Position of the problem.
        level: Probability that the interval of the gap misses it.
        rivals: Number of rivals of which one is enough for the algorithm to be behind; the level of being behind is
            divided by it.
    """
    pairs = match_seeds(*(benchmark.by_seed(a, problem) for a in (first, second)))
    ours, theirs = np.array(pairs, float).reshape(-1, 2).T
    wins = float(won(ours, theirs, benchmark.margin, benchmark.resolution[problem]).sum())
    share = Estimate(math.nan, 0.0, 1.0)
    if pairs:
        share = Estimate(wins / len(pairs), *share_interval(wins, len(pairs), LEVEL))
    gap = pairwise_gap(benchmark, first, second, problem, ties=True)
    if share.value >= MEANINGFUL and _sign(gap, level) < 0:
        return PairedComparison(share, "ahead")
    is_behind = share.value <= 1 - MEANINGFUL and _sign(gap, level / rivals) > 0
    return PairedComparison(share, "behind" if is_behind else "even")


def _sign(gap: Sample, level: float) -> int:
    """Return 1 where a number is larger than the other beyond noise, -1 where it is smaller, else 0.

    Where some numbers are infinite and there are too few for an exact interval of the median, it is 0: the interval
    then reaches from the smallest to the largest, whatever the level.
    """
    if not gap.values or (gap.failures and gap.count < needed_seeds(level)):
        return 0
    low, high = gap.interval(level)
    equality = _equality(gap.log)
    return int(low > equality) - int(high < equality)
