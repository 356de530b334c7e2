"""Numbers over seeds and their intervals: Student's t, and exact ones of the median, whatever the noise is like."""

import contextlib
import contextvars
import functools
import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fedatlas.experiments import labels

if TYPE_CHECKING:
    import numpy as np

LEVEL = 0.05  # probability that an interval misses the mean
MATTERS = 0.05  # smallest effect that matters, as a share of a number

_ANALYSES = contextvars.ContextVar("analyses", default=1)


@contextlib.contextmanager
def several_analyses(count: int) -> Iterator[None]:
    """Widen intervals inside the block, so that those of all interim analyses hold together at the level LEVEL.

    The level is divided by the number of interim analyses, by Bonferroni's inequality: these are repeated confidence
    intervals (Jennison & Turnbull 1989), which hold whichever interim analysis is the last.

    Args:
        count: Number of interim analyses as seeds are added.
    """
    token = _ANALYSES.set(count)
    try:
        yield
    finally:
        _ANALYSES.reset(token)


def analysis_level() -> float:
    """Return the probability that the intervals of one interim analysis miss the mean; of a single analysis LEVEL."""
    return LEVEL / _ANALYSES.get()


def interval_of_mean(mean: Any, deviation: Any, count: int, level: float = LEVEL) -> tuple[Any, Any]:
    """Return the ends of Student's t interval of means of ``count`` values, from the standard deviations of these."""
    half = student_quantile(1 - level / 2, count - 1) * deviation / math.sqrt(count)
    return mean - half, mean + half


@functools.cache
def student_quantile(share: float, freedom: float) -> float:
    """Return a quantile of Student's t distribution with ``freedom`` degrees of freedom."""
    from scipy.special import stdtrit  # scipy.stats takes a second to load

    return float(stdtrit(freedom, share))


def within_noise(means: Sequence[float], sds: Sequence[float], counts: Sequence[int], goal: str) -> list[bool]:
    """Return for each of several means whether it is the best, or within noise of the best.

    It is within noise where Welch's t interval of the difference from the best mean holds zero, with Bonferroni's
    correction for the number of rivals, and where so does that of every better mean: a bad mean that scatters is not
    near the best. Where a number has one seed its noise is not known, and only the best counts.

    Args:
        means: Means over seeds; those that are not finite are never near the best.
        sds: Standard deviations over the seeds, NaN for one seed.
        counts: Numbers of seeds.
        goal: ``min`` or ``max``.
    """
    finite = [number for number, mean in enumerate(means) if math.isfinite(mean)]
    ranking = sorted(finite, key=lambda number: means[number], reverse=goal == "max")
    level = LEVEL / max(1, len(finite) - 1)
    rows = list(zip(means, sds, counts, strict=True))
    near = set(itertools.takewhile(lambda number: _are_equal(rows[ranking[0]], rows[number], level), ranking))
    return [number in near for number in range(len(means))]


def _are_equal(one: tuple[float, float, int], other: tuple[float, float, int], level: float) -> bool:
    """Return whether Welch's interval of the difference of two (mean, deviation, count) holds zero."""
    distance, total = abs(one[0] - other[0]), sum(sd**2 / count for _, sd, count in (one, other))
    if distance <= 1e-9 * max(abs(one[0]), abs(other[0])):
        return True
    if min(one[2], other[2]) < 2 or not 0 < total < math.inf:
        return False
    # shares of the total, since squares of squares of small deviations are 0 in double precision
    freedom = 1 / sum((sd**2 / count / total) ** 2 / (count - 1) for _, sd, count in (one, other))
    return distance <= student_quantile(1 - level / 2, freedom) * math.sqrt(total)


def median_interval(values: "np.ndarray", level: float) -> tuple[float, float] | None:
    """Return the ends of the interval of the median from two of the ordered values, or None for too few values.

    Each value lies below the median with a probability of at most one half, so the number of those below is binomial
    (Thompson 1936, On confidence ranges for the median, Annals of Mathematical Statistics 7, 122-128; Conover 1999,
    Practical nonparametric statistics, Section 3.2). Nothing else is assumed, and values may be infinite.

    Args:
        values: The values (n,), without NaN.
        level: Probability that the interval misses the median, at most.
    """
    if not (beyond := _count_beyond(len(values), level)):
        return None
    ordered = sorted(values.tolist())
    return ordered[beyond - 1], ordered[-beyond]


@functools.cache
def _count_beyond(count: int, level: float) -> int:
    """Return how many of ``count`` values lie at or beyond each end of the interval of the median; 0 for too few."""
    from scipy.special import bdtr

    return sum(2 * bdtr(below, count, 0.5) <= level for below in range(count))


def needed_seeds(level: float) -> int:
    """Return the smallest number of values for which `median_interval` has an interval."""
    return 1 + math.ceil(-math.log2(level) - 1e-12)


def sign_p_value(values: "np.ndarray", bound: float) -> float:
    """Return the p-value of the two-sided sign test that the median of the values (n,) is a bound.

    A value that equals the bound counts for the smaller side.
    """
    from scipy.special import betainc

    larger = max(1, int((values > bound).sum()), int((values < bound).sum()))
    return float(min(1.0, 2 * betainc(larger, len(values) - larger + 1, 0.5)))


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


@dataclass(frozen=True)
class Sample:
    """A number for each seed, whose mean has an interval.

    log: whether the mean is taken of logarithms, as of ratios. exact: whether the number is the same for all seeds, as
    of deterministic runs, so that a single seed is enough. mean: whether what is asked is the expectation, as of a
    theorem; by default it is the typical run, of which mean and median must tell the same. least: the smallest mean
    that there can be, at which intervals end, as 0 for a squared norm.
    """

    values: tuple[float, ...]
    log: bool = False
    exact: bool = False
    mean: bool = False
    least: float = -math.inf

    @property
    def count(self) -> int:
        """Number of seeds."""
        return len(self.values)

    @property
    def value(self) -> float:
        """The mean over seeds; the median where a number is not finite."""
        import numpy as np

        if len(set(self.values)) == 1:
            return self.values[0]  # to the last bit, which the mean of logarithms may miss
        values = self._scaled()
        if not np.isfinite(values).all():
            return float(np.median(self.values))
        return self._back(values.mean())

    def interval(self, level: float | None = None) -> tuple[float, float]:
        """Return the ends of Student's t interval of the mean, extended to those of the exact interval of the median.

        It misses them with the probability ``level``, by default `analysis_level`.

        Where fewer seeds are fixed than the exact interval needs, it is Student's alone. Where seeds may be added it is
        the whole line, as for a single seed of what is not exact, or a NaN. Where numbers are infinite, it is the exact
        interval, or reaches from the smallest to the largest. Equal numbers have an interval of no width.
        """
        import numpy as np

        values, level = self._scaled(), analysis_level() if level is None else level
        if np.isnan(values).any() or len(values) < (1 if self.exact else 2):
            return -math.inf, math.inf
        if (values == values[0]).all():
            return self.values[0], self.values[0]
        median = None if self.mean else median_interval(values, level)
        if not self.mean and median is None and self._needs_exact:
            return -math.inf, math.inf
        if not np.isfinite(values).all():
            ends = median or (values.min(), values.max())
        else:
            ends = interval_of_mean(values.mean(), values.std(ddof=1), len(values), level)
            if median:
                ends = min(ends[0], median[0]), max(ends[1], median[1])
        low, high = map(self._back, ends)
        return max(low, min(self.least, high)), high

    def p_value(self, bound: float) -> float | None:
        """Return the larger p-value of Student's t test and the sign test that mean and median are a bound.

        It is the largest level at which the interval still holds the bound: Student's alone where the interval is; None
        where the numbers have no variance.
        """
        import numpy as np
        from scipy.special import stdtr

        values = self._scaled()
        if len(values) < 2 or not np.isfinite(values).all() or (self.log and bound <= 0):
            return None
        error = float(values.std(ddof=1)) / math.sqrt(len(values))
        if not error or (values == values[0]).all():  # a variance may underflow
            return None
        line = math.log(bound) if self.log else bound
        student = float(2 * stdtr(len(values) - 1, -abs(values.mean() - line) / error))
        return student if self.mean or not self._needs_exact else max(student, sign_p_value(values, line))

    @property
    def failures(self) -> int:
        """Number of seeds on which a side failed, if not on all."""
        count = sum(not math.isfinite(value) or (self.log and value == 0) for value in self.values)
        return count if count < self.count else 0

    def turned(self, number: float) -> float:
        """Return a number as seen from the other side: the reciprocal of a ratio, the negative of a difference."""
        if not self.log:
            return 0.0 - number
        return 1 / number if number else math.inf

    def text(self, turned: bool = False, scale: float = 1) -> str:
        """Return the number and its interval.

        Args:
            turned: Whether they are those of the reciprocal or the negative.
            scale: How many units of the text are one of the number, as 100 where a share is told in percent.
        """
        value, (low, high) = self.value, self.interval()
        if turned:
            value = self.turned(value)
            if math.isfinite(low) or math.isfinite(high):
                low, high = self.turned(high), self.turned(low)
        value, low, high = scale * value, scale * low, scale * high
        if low == high:
            return _text(value)
        return f"{_text(value)} ({f'{_text(low)} to {_text(high)}' if self.count > 1 else 'one seed'})"

    @property
    def _needs_exact(self) -> bool:
        """Whether the exact interval takes part: there are enough seeds for it, or there may be more."""
        return _ANALYSES.get() > 1 or self.count >= needed_seeds(LEVEL)

    def _scaled(self) -> "np.ndarray":
        import numpy as np

        values = np.array(self.values, float)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log(values) if self.log else values

    def _back(self, value: Any) -> float:
        return math.exp(value) if self.log and math.isfinite(value) else 0.0 if self.log and value < 0 else float(value)


DIVERGED = Sample((-math.inf, -math.inf))  # of runs that diverged: below all bounds


def match_seeds(ours: Mapping[int, float], theirs: Mapping[int, float]) -> list[tuple[float, float]]:
    """Return pairs of numbers of the seeds that both sides have, in the order of the seeds."""
    return [(ours[seed], theirs[seed]) for seed in sorted(ours.keys() & theirs.keys())]


def sample(
    values: Iterable[float], log: bool = False, exact: bool = False, mean: bool = False, least: float = -math.inf
) -> Sample:
    """Return the Sample of numbers."""
    return Sample(tuple(map(float, values)), log, exact, mean, least)


def _text(number: float) -> str:
    if math.isfinite(number):
        return labels.number(number)
    return {math.inf: "∞", -math.inf: "−∞"}.get(number, "undefined")
