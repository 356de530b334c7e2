"""Performance profiles, data profiles, and their bands by resampling.

The *performance profile* of an algorithm is the share of problems that it solves at a cost of at most r times that of
the best algorithm on each, as a function of r (Dolan & Moré 2002). Its *data profile* is the share that it solves
within a cost, in a unit of each problem (Moré & Wild 2009). Here every target and seed of a problem is an instance of
it, as in the runtime distributions of COCO (Hansen et al. 2021), and all problems have the same weight. Algorithms meet
on runs of one seed, which share their draws. What an algorithm does not attain, and a problem that it is not defined
for, it never solves.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fedatlas.results.comparing.benchmark import Benchmark
from fedatlas.results.comparing.intervals import LEVEL

Array = np.ndarray[Any, np.dtype[Any]]


def performance_ratios(numbers: Array) -> Array:
    """Costs over the best cost of their instance: at least 1, infinite where a target is not attained.

    numbers: (algorithms, ...). Where the best cost is 0, all others are infinitely many times as large.
    """
    costs = np.where(np.isnan(numbers), np.inf, numbers)
    best = costs.min(axis=0, keepdims=True, initial=np.inf)
    with np.errstate(invalid="ignore", divide="ignore"):
        found = np.where(costs == best, 1.0, costs / best)
    return np.where(np.isfinite(costs), found, np.inf)


def scaled_costs(board: Benchmark, baseline: int | None = None, raw: bool = False) -> Array:
    """Costs in a unit of each problem, of the shape of the board's numbers.

    The unit is the budget of the problem; or the median over seeds of what the algorithm ``baseline``, by its place,
    spends on the target, so that what it never attains costs others 0; or 1, if ``raw``.
    """
    costs = np.where(np.isnan(board.numbers), np.inf, board.numbers)
    if raw:
        return costs
    if baseline is None:
        return np.asarray(costs / board.budgets[:, None, None])
    unit = np.median(costs[baseline], axis=-1)[..., None]
    with np.errstate(invalid="ignore"):
        return np.where(np.isfinite(costs), costs / unit, np.inf)


def solved_shares(values: Array, at: Array) -> Array:
    """Share of a problem's targets that are solved at most at each abscissa, (algorithms, problems, slots, abscissas).

    values: ratios, or costs in units (algorithms, problems, targets, slots). at: (abscissas,), ascending.
    """
    algorithms, problems, targets, slots = values.shape
    found = np.zeros((algorithms, problems, slots, len(at) + 1))
    places = np.searchsorted(at, values)  # the first abscissa that is not smaller
    a, p, _, s = np.indices(values.shape)
    np.add.at(found, (a.ravel(), p.ravel(), s.ravel(), places.ravel()), 1)
    return np.asarray(found[..., :-1].cumsum(axis=-1) / targets)


@dataclass(frozen=True, eq=False)
class Resamples:
    """Resamples of an experiment: problems with replacement, and seeds with replacement within each that is drawn.

    problems (resamples, problems): places. slots (resamples, problems, slots): of seeds, for each problem drawn.
    """

    problems: Array
    slots: Array

    def weights(self, count: int, slots: int) -> Array:
        """How often each seed of each problem is drawn, as shares that sum to 1: (resamples, count, slots).

        count, slots: numbers of problems and of slots.
        """
        resamples, drawn, each = self.slots.shape
        found = np.zeros((resamples, count, slots))
        at = np.arange(resamples)[:, None, None]
        np.add.at(found, (at, self.problems[:, :, None], self.slots), 1 / (drawn * each))
        return found


def draw_resamples(problems: int, slots: int, resamples: int, seed: int, problem_seed: int | None = None) -> Resamples:
    """Draws from a seeded generator. problem_seed: another seed for the problems, so that Draws can share theirs."""
    shared = np.random.default_rng([seed if problem_seed is None else problem_seed, 0])
    places = shared.integers(problems, size=(resamples, problems))
    own = np.random.default_rng([seed, 1])
    return Resamples(places, own.integers(slots, size=(resamples, problems, slots)))


@dataclass(frozen=True, eq=False)
class Profile:
    """Shares of problems solved, (algorithms, abscissas), and the ends of their bands."""

    at: Array
    share: Array
    low: Array
    high: Array


def compute_profile(values: Array, at: Array, resamples: int = 1000, seed: int = 0, level: float = LEVEL) -> Profile:
    """The profile of ratios or of costs in units, with pointwise percentile bands.

    values: (algorithms, problems, targets, slots). at: abscissas. resamples: of problems and seeds.
    """
    solved = solved_shares(values, at)
    algorithms, problems, slots, _ = solved.shape
    share = solved.mean(axis=(1, 2))
    weights = draw_resamples(problems, slots, resamples, seed).weights(problems, slots)
    low, high = np.empty((2, *share.shape))
    for a in range(algorithms):  # one by one, which bounds the memory
        resampled = weights.reshape(resamples, -1) @ solved[a].reshape(problems * slots, -1)
        low[a], high[a] = np.quantile(resampled, (level / 2, 1 - level / 2), axis=0)
    return Profile(at, share, low, high)


def profile_areas(numbers: Array, within: float = 16.0) -> Array:
    """How close each instance is to the best, (algorithms, problems, slots): 1 at the best, 0 from ``within`` on.

    The mean is the area under the performance profile from 1 to ``within`` on the log2 axis, as a share. Dahl et al.
    (2023) rank training algorithms by this area on a linear axis.
    """
    with np.errstate(divide="ignore"):
        lost = np.log2(performance_ratios(numbers)) / np.log2(within)
    return np.asarray(np.clip(1 - lost, 0, 1).mean(axis=2))
