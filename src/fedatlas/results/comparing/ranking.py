"""The order of algorithms over problems, and whether it stays the same: Kendall's rank correlation, resampled."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fedatlas.results.comparing.benchmark import Benchmark
from fedatlas.results.comparing.intervals import LEVEL, Resampled
from fedatlas.results.comparing.profiles import Resamples, draw_resamples, profile_areas

Array = np.ndarray[Any, np.dtype[Any]]


def kendall(one: Array, other: Array) -> Array:
    """Kendall's tau-b of two lists of numbers; NaN where all of one list are equal.

    one, other: (..., things). Ties in one list count for neither side (Kendall 1945).
    """
    first, second = np.triu_indices(one.shape[-1], 1)
    a = np.sign(one[..., first] - one[..., second])
    b = np.sign(other[..., first] - other[..., second])
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((a * b).sum(-1) / np.sqrt((a * a).sum(-1) * (b * b).sum(-1)))


@dataclass(frozen=True, eq=False)
class Order:
    """Scores by which algorithms are ordered: the larger the better.

    scores (algorithms,). draws (resamples, algorithms): on resampled problems and seeds.
    """

    scores: Array
    draws: Array

    @property
    def ranks(self) -> Array:
        """Ranks from 1, the best; equal scores share the mean of theirs."""
        above = (self.scores[None, :] > self.scores[:, None]).sum(axis=1)
        equal = (self.scores[None, :] == self.scores[:, None]).sum(axis=1)
        return np.asarray(above + (equal + 1) / 2)


@dataclass(frozen=True)
class Agreement:
    """How two orders agree. tau: Kendall's. pairs: of algorithms; reversed: those that are surely in another order, as
    one order has them apart on one side and the other on the other, each beyond its own interval."""

    tau: Resampled
    pairs: int
    reversed: int


def rank_algorithms(board: Benchmark) -> list[int]:
    """Places of the algorithms, the best first: by the area under the performance profile, or, where numbers are
    compared by difference, by the mean rank."""
    if board.log:
        score = profile_areas(board.numbers).mean(axis=(1, 2))
    else:
        from scipy.stats import rankdata

        score = -rankdata(np.where(np.isnan(board.numbers), np.inf, board.numbers), axis=0).mean(axis=(1, 2, 3))
    return sorted(range(len(score)), key=lambda a: -score[a])


def order_algorithms(board: Benchmark, within: float, resampled: Resamples) -> Order:
    """The order by areas under the performance profile, on the problems and seeds of some Draws."""
    close = profile_areas(board.numbers, within)
    weights = resampled.weights(*close.shape[1:])
    return Order(close.mean(axis=(1, 2)), np.einsum("rps,aps->ra", weights, close, optimize=True))


def measure_agreement(one: Order, other: Order, seeds: int, level: float = LEVEL) -> Agreement:
    """How two orders of the same algorithms agree, whose Draws share their problems."""
    tau = Resampled(float(kendall(one.scores, other.scores)), tuple(kendall(one.draws, other.draws).tolist()), seeds)
    first, second = np.triu_indices(len(one.scores), 1)
    sides = [_sides(each.draws[:, first] - each.draws[:, second], level) for each in (one, other)]
    return Agreement(tau, len(first), int((sides[0] * sides[1] < 0).sum()))


def _sides(differences: Array, level: float) -> Array:
    """1 or -1 where the percentile interval of a difference lies wholly on that side of 0, else 0."""
    low, high = np.quantile(differences, (level / 2, 1 - level / 2), axis=0)
    return np.asarray((low > 0).astype(int) - (high < 0).astype(int))


def compare_orders(
    one: Benchmark, other: Benchmark, within: float, resamples: int = 1000, seed: int = 0
) -> tuple[Order, Order, Agreement]:
    """Two orders and their agreement, of boards of the same algorithms and problems.

    Problems are resampled alike for both. Seeds are, too, where both boards have the same; else each has its own.
    """
    places = len(one.problems)
    same = one.seeds.shape == other.seeds.shape and bool((one.seeds == other.seeds).all())
    first = draw_resamples(places, one.seeds.shape[1], resamples, seed)
    second = first if same else draw_resamples(places, other.seeds.shape[1], resamples, seed + 1, problem_seed=seed)
    orders = order_algorithms(one, within, first), order_algorithms(other, within, second)
    seeds = one.seeds.shape[1] if same else one.seeds.shape[1] + other.seeds.shape[1]
    return *orders, measure_agreement(*orders, seeds)


def split_seeds(board: Benchmark) -> tuple[Benchmark, Benchmark]:
    """The board with one half of the seeds, and with the other: every second one, in their order."""
    slots = board.seeds.shape[1]
    return tuple(board.select_slots(range(start, slots, 2)) for start in (0, 1))  # type: ignore[return-value]
