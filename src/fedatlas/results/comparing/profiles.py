"""Performance profiles, and their bands by resampling.

The *performance profile* of an algorithm is the share of problems that it solves at a cost of at most r times that of
the best algorithm on each, as a function of r (Dolan & Moré 2002). Here every target and seed of a problem is an
instance of it, as in the runtime distributions of COCO (Hansen et al. 2021), and all problems have the same weight.
Algorithms meet on runs of one seed, which share their draws. What an algorithm does not attain, and a problem that it
is not defined for, it never solves.
"""

import numpy as np

from fedatlas.results.comparing.benchmark import Array
from fedatlas.results.comparing.intervals import LEVEL


def performance_ratios(numbers: Array) -> Array:
    """Return costs over the best cost of their instance: at least 1, infinite where a target is not attained.

    Where the best cost is 0, all other costs are infinitely many times as large.

    Args:
        numbers: The costs, (algorithms, ...).
    """
    costs = np.where(np.isnan(numbers), np.inf, numbers)
    best = costs.min(axis=0, keepdims=True, initial=np.inf)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratios = np.where(costs == best, 1.0, costs / best)
    return np.where(np.isfinite(costs), ratios, np.inf)


def compute_profile(values: Array, abscissas: Array, resamples: int = 1000) -> tuple[Array, Array, Array]:
    """Return the profile of ratios, and the low and high ends of its pointwise percentile bands.

    Each has the shape (algorithms, abscissas).

    Args:
        values: Ratios (algorithms, problems, targets, slots).
        abscissas: Abscissas of the profile.
        resamples: Number of resamples of the seeds of each problem, with replacement within it.
    """
    algorithms, problems, targets, slots = values.shape
    counts = np.zeros((algorithms, problems, slots, len(abscissas) + 1))  # of targets, by the first that is not smaller
    of_algorithms, of_problems, _, of_slots = np.indices(values.shape)
    np.add.at(counts, (of_algorithms, of_problems, of_slots, np.searchsorted(abscissas, values)), 1)
    solved = counts[..., :-1].cumsum(axis=-1) / targets
    draws = np.random.default_rng([0, 1]).integers(slots, size=(resamples, problems, slots))
    weights = np.zeros((resamples, problems, slots))
    rows, columns = np.arange(resamples)[:, None, None], np.arange(problems)[None, :, None]
    np.add.at(weights, (rows, columns, draws), 1 / (problems * slots))
    low, high = np.empty((2, algorithms, len(abscissas)))
    for a in range(algorithms):  # a loop instead of one product, which bounds the memory
        resampled = weights.reshape(resamples, -1) @ solved[a].reshape(problems * slots, -1)
        low[a], high[a] = np.quantile(resampled, (LEVEL / 2, 1 - LEVEL / 2), axis=0)
    return solved.mean(axis=(1, 2)), low, high


def profile_areas(numbers: Array, within: float = 16.0) -> Array:
    """Return the closeness of each instance to the best: 1 at the best, 0 from ``within`` on.

    The shape is (algorithms, problems, slots).

    The mean is the area under the performance profile from 1 to ``within`` on the log2 axis, as a share. Dahl et al.
    (2023) rank training algorithms by this area on a linear axis.
    """
    with np.errstate(divide="ignore"):
        distance = np.log2(performance_ratios(numbers)) / np.log2(within)
    return np.asarray(np.clip(1 - distance, 0, 1).mean(axis=2))
