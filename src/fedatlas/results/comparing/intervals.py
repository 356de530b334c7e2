"""Numbers over seeds and their intervals: Student's t and exact ones."""

import contextlib
import contextvars
import functools
import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fedatlas.experiments import labels
from fedatlas.results.comparing.medians import median_interval, needed_seeds, sign_p_value

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


def student_interval(values: "np.ndarray", level: float = LEVEL) -> "tuple[np.ndarray, np.ndarray]":
    """Return the ends of Student's t interval of the mean of independent values.

    Args:
        values: At least two values along the first axis; the ends have the shape of the other axes.
        level: Probability that the interval misses the mean.
    """
    return interval_of_mean(values.mean(axis=0), values.std(axis=0, ddof=1), len(values), level)


def interval_of_mean(mean: Any, deviation: Any, count: int, level: float = LEVEL) -> tuple[Any, Any]:
    """Return the ends of Student's t interval of means of ``count`` values, from the standard deviations of these."""
    half = _quantile(1 - level / 2, count - 1) * deviation / math.sqrt(count)
    return mean - half, mean + half


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
    if not finite:
        return [False] * len(means)
    ranking = sorted(finite, key=lambda number: means[number], reverse=goal == "max")
    level = LEVEL / max(1, len(finite) - 1)
    rows = list(zip(means, sds, counts, strict=True))
    near = set(itertools.takewhile(lambda number: _are_equal(rows[ranking[0]], rows[number], level), ranking))
    return [number in near for number in range(len(means))]


def difference(
    one: tuple[float, float, int], other: tuple[float, float, int], level: float = LEVEL
) -> tuple[float, float]:
    """Return the difference of two means and half of its Welch interval, infinite where a mean has one seed.

    Args:
        one: Mean, standard deviation over the seeds, and number of seeds.
        other: The same of the mean that is subtracted.
        level: Probability that the interval misses the difference.
    """
    squares = [sd**2 / count for _, sd, count in (one, other)]
    if min(one[2], other[2]) < 2 or not math.isfinite(sum(squares)):
        return one[0] - other[0], math.inf
    if not (total := sum(squares)):
        return one[0] - other[0], 0.0
    # shares of the total, since squares of squares of small deviations are 0 in double precision
    shares = [square / total for square in squares]
    freedom = 1 / sum(share**2 / (side[2] - 1) for share, side in zip(shares, (one, other), strict=True))
    return one[0] - other[0], _quantile(1 - level / 2, freedom) * math.sqrt(total)


def _are_equal(one: tuple[float, float, int], other: tuple[float, float, int], level: float) -> bool:
    """Return whether the interval of the difference of two (mean, deviation, count) holds zero."""
    distance, half = difference(one, other, level)
    if abs(distance) <= 1e-9 * max(abs(one[0]), abs(other[0])):
        return True
    return 0 < half < math.inf and abs(distance) <= half


@functools.cache
def _quantile(share: float, freedom: float) -> float:
    """Return a quantile of Student's t distribution with ``freedom`` degrees of freedom."""
    from scipy.special import stdtrit  # scipy.stats takes a second to load

    return float(stdtrit(freedom, share))


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
        median = median_interval(values, level)
        if not self.mean and median is None and self._needs_exact:
            return -math.inf, math.inf
        if not np.isfinite(values).all():
            ends = median if median and not self.mean else (values.min(), values.max())
        else:
            ends = student_interval(values, level)
            if median and not self.mean:
                ends = min(ends[0], median[0]), max(ends[1], median[1])
        low, high = map(self._back, ends)
        return max(low, min(self.least, high)), high

    def p_value(self, bound: float) -> float | None:
        """Return the larger p-value of Student's t test and the sign test that mean and median are a bound.

        It is the largest level at which the interval still holds the bound: Student's alone where the interval is; None
        where the numbers have no variance.
        """
        import numpy as np
        from scipy import stats

        values = self._scaled()
        if len(values) < 2 or not np.isfinite(values).all() or (values == values[0]).all():
            return None
        if self.log and bound <= 0:
            return None
        error = float(values.std(ddof=1)) / math.sqrt(len(values))
        if not error:  # a variance that underflows
            return None
        line = math.log(bound) if self.log else bound
        student = float(2 * stats.t.sf(abs(values.mean() - line) / error, len(values) - 1))
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

    def is_behind(self) -> bool:
        """Return whether the number is a ratio below 1 or a negative difference."""
        return self.value < (1 if self.log else 0)

    def text(self, turned: bool = False, scale: float = 1) -> str:
        """Return the number and its interval.

        Args:
            turned: Whether the number is told as seen from the other side.
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
