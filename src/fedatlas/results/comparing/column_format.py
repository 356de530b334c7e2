"""One format for the numbers of a table's column: means with their deviations."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from fedatlas.experiments import labels

PLAIN = 1e-3, 1e5  # between these a column's largest number is written without a power of ten
WIDE = 100  # ratio of the largest and smallest number from which on all have powers of ten


@dataclass(frozen=True)
class ColumnFormat:
    """The format of a column.

    Attributes:
        decimals: Number of decimals.
        percent: Whether numbers are shown in percent.
        powers: Whether each number has a power of ten.
    """

    decimals: int
    percent: bool = False
    powers: bool = False

    @classmethod
    def fitting(cls, means: Iterable[float], percent: bool = False) -> "ColumnFormat":
        """Return the format that shows two digits of all means at least, and three of the largest.

        Args:
            means: Means of the column; those that are not finite do not count.
            percent: Whether numbers are shown in percent.
        """
        sizes = [abs(mean) for mean in means if math.isfinite(mean) and mean]
        if percent or not sizes:
            return cls(1, percent)
        low, high = min(sizes), max(sizes)
        if not PLAIN[0] <= high < PLAIN[1] or high / low >= WIDE:
            return cls(2, powers=True)
        decimals = 2 - math.floor(math.log10(high)) + (high / low >= 10)
        return cls(max(0, decimals))

    def text(self, mean: float, sd: float = math.nan) -> str:
        """Return a mean with its deviation, which NaN leaves out: ``0.919 ± 0.029``, ``(7.81 ± 0.30) × 10⁻⁴``."""
        if not math.isfinite(mean):
            return "diverged"
        power = int(f"{mean:.{self.decimals}e}".split("e")[1]) if self.powers else None
        scale = 100.0 if self.percent else 10.0 ** -(power or 0)
        number = " ± ".join(f"{value * scale:.{self.decimals}f}" for value in (mean, sd) if not math.isnan(value))
        if power is None:
            return number
        return f"{number if math.isnan(sd) else f'({number})'} × {labels.power(power)}"
