"""Exact inference about the typical run: the median over independent seeds, whatever the distribution of the noise."""

import functools
import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


def median_interval(values: "np.ndarray", level: float) -> tuple[float, float] | None:
    """Return the ends of the interval of the median from two of the ordered values, or None for too few values.

    Each value lies below the median with a probability of at most one half, so the number of those below is binomial
    (Thompson 1936, On confidence ranges for the median, Annals of Mathematical Statistics 7, 122-128; Conover 1999,
    Practical nonparametric statistics, Section 3.2). Nothing else is assumed, and values may be infinite.

    Args:
        values: The values (n,), without NaN.
        level: Probability that the interval misses the median, at most.
    """
    if (left_out := _left_out(len(values), level)) is None:
        return None
    ordered = sorted(values.tolist())
    return ordered[left_out], ordered[-1 - left_out]


def needed_seeds(level: float) -> int:
    """Return the smallest number of values for which `median_interval` has an interval."""
    return 1 + math.ceil(-math.log2(level) - 1e-12)


def sign_p_value(values: "np.ndarray", bound: float) -> float:
    """Return the p-value of the two-sided sign test that the median of the values (n,) is a bound.

    A value that equals the bound counts for the smaller side.
    """
    from scipy import stats

    larger = max(int((values > bound).sum()), int((values < bound).sum()))
    return float(min(1.0, 2 * stats.binom.sf(larger - 1, len(values), 0.5)))


def share_interval(count: float, total: int, level: float) -> tuple[float, float]:
    """Return the ends of the exact interval of a probability (Clopper & Pearson 1934, Biometrika 26, 404-413).

    Args:
        count: How many of the seeds had the property; a half of one counts one half.
        total: Number of seeds.
        level: Probability that the interval misses, at most.
    """
    from scipy.special import betaincinv

    low = float(betaincinv(count, total - count + 1, level / 2)) if count else 0.0
    return low, float(betaincinv(count + 1, total - count, 1 - level / 2)) if count < total else 1.0


@functools.cache
def _left_out(count: int, level: float) -> int | None:
    """Return how many values lie beyond each end of the interval, or None if even all values are too few."""
    tail, total = 0.0, 2.0**count
    for left_out in range(count):
        tail += math.comb(count, left_out) / total
        if 2 * tail > level:
            return left_out - 1 if left_out else None
    return None
