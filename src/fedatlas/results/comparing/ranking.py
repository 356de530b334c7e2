"""The order of algorithms over problems, and the agreement of two orders: Kendall's rank correlation, resampled."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fedatlas.results.comparing.benchmark import Benchmark
from fedatlas.results.comparing.intervals import LEVEL, Resampled
from fedatlas.results.comparing.profiles import Resamples, draw_resamples, profile_areas

Array = np.ndarray[Any, np.dtype[Any]]


def kendall(first: Array, second: Array) -> Array:
    """Return Kendall's tau-b of two lists of numbers; NaN where all numbers of a list are equal.

    Ties in a list count for neither side (Kendall 1945).

    Args:
        first: The lists along the last axis.
        second: Lists of the same shape.
    """
    i, j = np.triu_indices(first.shape[-1], 1)
    a = np.sign(first[..., i] - first[..., j])
    b = np.sign(second[..., i] - second[..., j])
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((a * b).sum(-1) / np.sqrt((a * a).sum(-1) * (b * b).sum(-1)))


@dataclass(frozen=True, eq=False)
class Order:
    """An order of algorithms by scores, of which large ones are good.

    scores (algorithms,). draws (resamples, algorithms): scores on resampled problems and seeds.
    """

    scores: Array
    draws: Array

    @property
    def ranks(self) -> Array:
        """Ranks from 1, the best; equal scores share the mean of their ranks."""
        above = (self.scores[None, :] > self.scores[:, None]).sum(axis=1)
        equal = (self.scores[None, :] == self.scores[:, None]).sum(axis=1)
        return np.asarray(above + (equal + 1) / 2)


@dataclass(frozen=True)
class Agreement:
    """The agreement of two orders.

    tau: Kendall's. pairs: number of pairs of algorithms. reversed: number of pairs whose difference has opposite signs
    in the two orders, beyond its interval in both.
    """

    tau: Resampled
    pairs: int
    reversed: int


def rank_algorithms(benchmark: Benchmark) -> list[int]:
    """Return the positions of the algorithms, the best first.

    They are ranked by the area under the performance profile, or, where numbers are compared by difference, by the mean
    rank.
    """
    if benchmark.log:
        score = profile_areas(benchmark.numbers).mean(axis=(1, 2))
    else:
        from scipy.stats import rankdata

        score = -rankdata(np.where(np.isnan(benchmark.numbers), np.inf, benchmark.numbers), axis=0).mean(axis=(1, 2, 3))
    return sorted(range(len(score)), key=lambda a: -score[a])


def order_algorithms(benchmark: Benchmark, within: float, resamples: Resamples) -> Order:
    """Return the order by areas under the performance profile, with draws on resampled problems and seeds."""
    areas = profile_areas(benchmark.numbers, within)
    weights = resamples.weights(*areas.shape[1:])
    return Order(areas.mean(axis=(1, 2)), np.einsum("rps,aps->ra", weights, areas, optimize=True))


def measure_agreement(first: Order, second: Order, seeds: int) -> Agreement:
    """Return the agreement of two orders of the same algorithms, whose resamples share their problems."""
    tau = Resampled(
        float(kendall(first.scores, second.scores)), tuple(kendall(first.draws, second.draws).tolist()), seeds
    )
    i, j = np.triu_indices(len(first.scores), 1)
    sides = [_sides(order.draws[:, i] - order.draws[:, j]) for order in (first, second)]
    return Agreement(tau, len(i), int((sides[0] * sides[1] < 0).sum()))


def _sides(differences: Array) -> Array:
    """Return 1 or -1 where the percentile interval of a difference lies wholly on that side of 0, else 0."""
    low, high = np.quantile(differences, (LEVEL / 2, 1 - LEVEL / 2), axis=0)
    return np.asarray((low > 0).astype(int) - (high < 0).astype(int))


def compare_orders(
    first: Benchmark, second: Benchmark, within: float, resamples: int = 1000
) -> tuple[Order, Order, Agreement]:
    """Return two orders and their agreement, of benchmarks of the same algorithms and problems.

    Problems are resampled alike for both. Seeds are, too, where the benchmarks have the same seeds.

    Args:
        first: The numbers that determine the first order.
        second: The numbers that determine the second order.
        within: Ratio to the best cost from which on a problem counts nothing.
        resamples: Number of resamples.
    """
    problems = len(first.problems)
    same = first.seeds.shape == second.seeds.shape and bool((first.seeds == second.seeds).all())
    draws = draw_resamples(problems, first.seeds.shape[1], resamples, seed=0)
    second_draws = draws if same else draw_resamples(problems, second.seeds.shape[1], resamples, seed=1, problem_seed=0)
    orders = order_algorithms(first, within, draws), order_algorithms(second, within, second_draws)
    seeds = first.seeds.shape[1] if same else first.seeds.shape[1] + second.seeds.shape[1]
    return *orders, measure_agreement(*orders, seeds)


def split_seeds(benchmark: Benchmark) -> tuple[Benchmark, Benchmark]:
    """Return the benchmark with every second seed, and with the seeds between them."""
    slots = benchmark.seeds.shape[1]
    return benchmark.select_slots(range(0, slots, 2)), benchmark.select_slots(range(1, slots, 2))
