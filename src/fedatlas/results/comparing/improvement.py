"""The probability that an algorithm improves upon another over problems (Agarwal et al. 2021), with intervals.

On a problem it is the share of its instances on which the first algorithm's number is better, where numbers that are
practically equal count one half. Runs of one seed have one instance, so these pairs are compared, and not all pairs of
runs. Problems for which both are defined have the same weight.

Intervals are about problems like these, so they resample the problems, and the instances of each. An ordinary bootstrap
of few problems has intervals that are too narrow, and of no width where all pairs have one winner. So resamples draw
weights, as in the Bayesian bootstrap (Rubin 1981, The Annals of Statistics 9, 130-134), and give one problem more a
weight: an unseen one that is all lost at the lower end of the interval and all won at the upper end. These are the
bounds of Gaffke for the mean of independent numbers between 0 and 1 (Learned-Miller & Thomas 2019, arXiv:1905.06208).
For shares of 0 and 1 alone they are those of Clopper and Pearson with a trial for each problem: who wins all pairs on
four problems has the interval from 0.40 to 1, and on sixteen from 0.79.
"""

import numpy as np

from fedatlas.results.comparing.benchmark import Array, Benchmark
from fedatlas.results.comparing.intervals import LEVEL
from fedatlas.results.comparing.pairwise import Estimate, won


def draw_weights(problems: int, slots: int, resamples: int) -> tuple[Array, Array]:
    """Return random weights of instances, (resamples, problems, slots), and of an unseen problem, (resamples,).

    The problems and the unseen one have independent exponential weights, whose shares of their sum are uniform. So are
    those of the instances of a problem, which sum to its weight.

    Args:
        problems: Number of problems.
        slots: Number of instances of each.
        resamples: Number of resamples.
    """
    rng = np.random.default_rng(0)
    weights = rng.exponential(size=(resamples, problems + 1))
    shares = rng.exponential(size=(resamples, problems, slots))
    return weights[:, :-1, None] * shares / shares.sum(axis=2, keepdims=True), weights[:, -1]


def probability_of_improvement(
    benchmark: Benchmark, resamples: int = 1000, level: float = LEVEL
) -> dict[tuple[str, str], Estimate]:
    """Return the probability that an algorithm improves upon another, by both ids, with its interval over problems.

    Pairs that are defined together on no problem are left out.

    Args:
        benchmark: The numbers.
        resamples: Number of resamples of problems and instances.
        level: Probability that an interval misses the probability.
    """
    ids, (_, problems, _, slots) = benchmark.algorithms, benchmark.numbers.shape
    weights, unseen = draw_weights(problems, slots, resamples)
    wins, defined = _wins(benchmark)  # (a, b, problems, slots) and (a, b, problems)
    flat = wins.reshape(len(ids) ** 2, -1) @ weights.reshape(resamples, -1).T
    total = defined.reshape(len(ids) ** 2, -1) @ weights.sum(axis=2).T + unseen
    low = np.quantile(flat / total, level / 2, axis=1).reshape(defined.shape[:2])
    high = np.quantile(np.minimum((flat + unseen) / total, 1), 1 - level / 2, axis=1).reshape(defined.shape[:2])
    result = {}
    for a, b in np.argwhere(defined.any(axis=2)).tolist():
        value = wins[a, b].mean(axis=1).sum() / defined[a, b].sum()
        result[ids[a], ids[b]] = Estimate(float(value), float(low[a, b]), float(high[a, b]))
    return result


def _wins(benchmark: Benchmark) -> tuple[Array, Array]:
    """Return the share of targets at which rows are better, (a, b, problems, slots), and where both are defined.

    It is 0 where one of the two is not defined, and on the diagonal.
    """
    numbers, defined = benchmark.numbers, benchmark.defined
    wins = np.zeros((len(numbers), *numbers.shape[:2], numbers.shape[3]))
    both = defined[:, None] & defined[None] & ~np.eye(len(numbers), dtype=bool)[..., None]
    for a, row in enumerate(numbers):  # a loop instead of one comparison, which bounds the memory
        shares = won(row, numbers, benchmark.margin, benchmark.resolution[:, None, None]).mean(axis=2)
        wins[a] = np.where(both[a][..., None], shares, 0.0)
    return wins, both
