"""Numbers over seeds and their intervals: Student's t over independent seeds, or what resampling gives."""

import functools
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fedatlas.experiments import labels

if TYPE_CHECKING:
    import numpy as np

LEVEL = 0.05  # probability that an interval misses the mean


def student_interval(values: "np.ndarray", level: float = LEVEL) -> "tuple[np.ndarray, np.ndarray]":
    """Ends of Student's t interval of the mean of independent values.

    values: along the first axis, two or more; the ends have the shape of the others. level: probability to miss the
    mean.
    """
    half = _quantile(1 - level / 2, len(values) - 1) * values.std(axis=0, ddof=1) / math.sqrt(len(values))
    middle = values.mean(axis=0)
    return middle - half, middle + half


@functools.cache
def _quantile(share: float, freedom: int) -> float:
    """Quantile of Student's t distribution. freedom: degrees of it."""
    from scipy import stats

    return float(stats.t.ppf(share, freedom))


class Estimate(ABC):
    """A number with an interval."""

    @property
    @abstractmethod
    def value(self) -> float:
        """The number."""

    @property
    @abstractmethod
    def count(self) -> int:
        """Number of the seeds behind it."""

    @property
    def ratio(self) -> bool:
        """Whether it is a ratio, whose distances are those of logarithms."""
        return False

    @abstractmethod
    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """Ends of the interval that misses the number with the probability ``level``."""

    def __str__(self) -> str:
        return self.text()

    def text(self, level: float = LEVEL, digits: int = 3) -> str:
        """The number and its interval. digits: that are significant."""
        low, high = self.interval(level)
        if low == high:
            return _text(self.value, digits)
        ends = f"{_text(low, digits)} to {_text(high, digits)}" if self.count > 1 else "one seed"
        return f"{_text(self.value, digits)} ({ends})"


@dataclass(frozen=True)
class Sample(Estimate):
    """A number for each seed. log: whether the mean is taken of logarithms, as of ratios."""

    values: tuple[float, ...]
    log: bool = False

    @property
    def count(self) -> int:
        return len(self.values)

    @property
    def ratio(self) -> bool:
        return self.log

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

    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """Ends of Student's t interval of the mean.

        Equal numbers have an interval of no width. Where some numbers are infinite, the interval reaches from the
        smallest to the largest. One seed, and a number that is none, leave everything open.
        """
        import numpy as np

        values = self._scaled()
        if np.isnan(values).any() or len(values) < 2:
            return -math.inf, math.inf
        if (values == values[0]).all():
            return self.values[0], self.values[0]
        if not np.isfinite(values).all():
            return min(self.values), max(self.values)
        low, high = student_interval(values, level)
        return self._back(low), self._back(high)

    def _scaled(self) -> "np.ndarray":
        import numpy as np

        values = np.array(self.values, float)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log(values) if self.log else values

    def _back(self, value: Any) -> float:
        return math.exp(value) if self.log else float(value)


@dataclass(frozen=True)
class Resampled(Estimate):
    """A number, and what it is on resampled results (Efron & Tibshirani 1993, Chapter 13).

    number: on the results themselves. draws: on each resample. seeds: how many were resampled.
    """

    number: float
    draws: tuple[float, ...]
    seeds: int

    @property
    def value(self) -> float:
        return self.number

    @property
    def count(self) -> int:
        return self.seeds

    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """Ends of the percentile interval, which reaches to the number itself where it would leave it out.

        A draw without a number leaves everything open.
        """
        import numpy as np

        draws = np.array(self.draws, float)
        if np.isnan(draws).any() or math.isnan(self.value) or not len(draws):
            return -math.inf, math.inf
        low, high = np.quantile(draws, (level / 2, 1 - level / 2))
        return min(float(low), self.value), max(float(high), self.value)


DIVERGED = Sample((-math.inf, -math.inf))  # what a run that diverged gives


def pair_seeds(ours: Mapping[int, float], theirs: Mapping[int, float]) -> list[tuple[float, float]]:
    """Pairs of numbers of the same seed, in the order of the seeds.

    Where several seeds of one side all give the same number, that side does not depend on the seed, as the runs of a
    deterministic algorithm do not. Then its number is paired with each of the other's, whose seeds may be others.
    """
    if (alike := _constant(theirs)) is not None:
        return [(ours[seed], alike) for seed in sorted(ours)]
    if (alike := _constant(ours)) is not None:
        return [(alike, theirs[seed]) for seed in sorted(theirs)]
    return match_seeds(ours, theirs)


def match_seeds(ours: Mapping[int, float], theirs: Mapping[int, float]) -> list[tuple[float, float]]:
    """Pairs of numbers of the seeds that both sides have, in the order of the seeds."""
    return [(ours[seed], theirs[seed]) for seed in sorted(ours.keys() & theirs.keys())]


def _constant(numbers: Mapping[int, float]) -> float | None:
    """The number that two or more seeds all give, or None."""
    found = set(numbers.values())
    return found.pop() if len(numbers) > 1 and len(found) == 1 else None


def sample(values: Iterable[float], log: bool = False) -> Sample:
    """The Sample of some numbers."""
    return Sample(tuple(map(float, values)), log)


def _text(number: float, digits: int) -> str:
    if math.isfinite(number):
        return labels.number(number, digits)
    return {math.inf: "∞", -math.inf: "−∞"}.get(number, "undefined")
