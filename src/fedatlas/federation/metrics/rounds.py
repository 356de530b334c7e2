"""Metrics over rounds: ``NAME_rounds_STATISTIC`` is a statistic of the metric NAME after all rounds so far.

The values are those before the first round and after each round, also of rounds that have no row. Rounds in which the
metric has no value, such as round 0 of what is recorded of local steps, do not count.
"""

import re
from dataclasses import dataclass

import numpy as np

WORDS = {
    "mean": "{}, mean over rounds",
    "mean_square": "{}, mean square over rounds",
    "min": "{}, smallest so far",
    "max": "{}, largest so far",
}
_NAME = re.compile(r"(?P<base>\w+)_rounds_(?P<statistic>mean_square|mean|min|max)")


@dataclass(frozen=True)
class RoundMetric:
    """A metric over rounds.

    Attributes:
        base: Metric of each round, such as ``gradient_norm``.
        statistic: ``mean``, ``mean_square``, ``min`` or ``max``.
    """

    base: str
    statistic: str

    @property
    def extreme(self) -> bool:
        """Whether it is a value of one round."""
        return self.statistic in ("min", "max")

    def words(self, base: str) -> str:
        """Return words for people. base: those for the metric of a round."""
        return WORDS[self.statistic].format(base)

    def add(self, total: list[float] | None, value: float) -> list[float]:
        """Return the total of some rounds and the next one. Once a value is NaN, the statistic is.

        Args:
            total: How many rounds have a value, and the sum of the values or squares, or the extreme value, in double
                precision; None before the first one.
            value: Value of the next round.
        """
        value = value * value if self.statistic == "mean_square" else value
        if total is None:
            return [1, value]
        count, number = total
        if self.extreme:
            return [count + 1, float({"min": np.minimum, "max": np.maximum}[self.statistic](number, value))]
        return [count + 1, number + value]

    def value(self, total: list[float]) -> float:
        """Return the statistic. total: As `add` returned it."""
        count, number = total
        return number if self.extreme else number / count


def round_metric(name: str) -> RoundMetric | None:
    """Return the metric over rounds of a name, or None if the name is not of this form."""
    match = _NAME.fullmatch(name)
    return RoundMetric(**match.groupdict()) if match else None
