"""The probability that an algorithm improves upon another (Agarwal et al. 2021, Section 4.3), resampled.

On a problem it is the share of its instances on which the first algorithm's number is better, where equal numbers count
one half. Runs of one seed have one instance, so these pairs are compared, and not all pairs of runs. Problems for
which both are defined have the same weight. Resamples draw the instances of each problem with replacement; the
problems stay, as in the stratified bootstrap of Agarwal et al.
"""

from dataclasses import dataclass

import numpy as np

from fedatlas.results.comparing.benchmark import Benchmark
from fedatlas.results.comparing.intervals import LEVEL
from fedatlas.results.comparing.profiles import draw_resamples


@dataclass(frozen=True, eq=False)
class Improvement:
    """Probabilities that rows improve upon columns, and the ends of their intervals, (algorithms, algorithms).

    NaN on the diagonal and where no problem is defined for both. mean, mean_low, mean_high (algorithms,): over the
    other algorithms. problems (algorithms, algorithms): number of problems that are defined for both.
    """

    probability: np.ndarray
    low: np.ndarray
    high: np.ndarray
    mean: np.ndarray
    mean_low: np.ndarray
    mean_high: np.ndarray
    problems: np.ndarray


def probability_of_improvement(benchmark: Benchmark, resamples: int = 1000, level: float = LEVEL) -> Improvement:
    """Return the probability that each algorithm improves upon each other one, with percentile intervals.

    Args:
        benchmark: The numbers.
        resamples: Number of resamples of the instances.
        level: Probability that an interval misses the probability.
    """
    algorithms, problems, _, slots = benchmark.numbers.shape
    weights = draw_resamples(problems, slots, resamples, seed=0, fixed=True).weights(problems, slots)
    wins, defined = _wins(benchmark)  # (a, b, problems, slots) and (a, b, problems)
    counts = defined.sum(axis=2)
    with np.errstate(invalid="ignore", divide="ignore"):
        probability = wins.mean(axis=3).sum(axis=2) / counts
        flat = (wins * problems).reshape(algorithms * algorithms, -1) @ weights.reshape(resamples, -1).T
        draws = flat.reshape(algorithms, algorithms, resamples) / counts[..., None]
    ends = level / 2, 1 - level / 2
    low, high = np.quantile(draws, ends, axis=2)
    rivals = np.maximum(1, (~np.isnan(probability)).sum(axis=1))
    means = np.nansum(draws, axis=1) / rivals[:, None]
    mean_low, mean_high = np.quantile(means, ends, axis=1)
    return Improvement(probability, low, high, np.nansum(probability, axis=1) / rivals, mean_low, mean_high, counts)


def _wins(benchmark: Benchmark) -> tuple[np.ndarray, np.ndarray]:
    """Return the share of targets at which rows are better, (a, b, problems, slots), and where both are defined.

    It is 0 where one of the two is not defined, and on the diagonal.
    """
    numbers, defined = benchmark.numbers, benchmark.defined
    wins = np.zeros((len(numbers), *numbers.shape[:2], numbers.shape[3]))
    both = defined[:, None] & defined[None] & ~np.eye(len(numbers), dtype=bool)[..., None]
    for a, row in enumerate(numbers):  # a loop instead of one comparison, which bounds the memory
        wins[a] = ((row < numbers) + 0.5 * (row == numbers)).mean(axis=2) * both[a][..., None]
    return wins, both
