"""The power with which one number grows with another: the slope of its logarithm, with an interval over seeds."""

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from fedatlas.checks.evidence import Bounds, Part
from fedatlas.comparing.intervals import LOST, sample

if TYPE_CHECKING:
    import numpy as np


def exponent(at: "Sequence[float] | np.ndarray", numbers: "Sequence[float] | np.ndarray") -> float:
    """The slope of log numbers against log ``at``; NaN where a number is not finite or not positive.

    at: positive, at least two different values.
    """
    import numpy as np

    x, y = np.asarray(at, float), np.asarray(numbers, float)
    if not (np.isfinite(y).all() and (y > 0).all()):
        return math.nan
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def measured(exponents: Iterable[float], bounds: Bounds, about: str, lost: str) -> Part:
    """The part of a claim about the mean of exponents, one for each seed.

    A run that diverged has no exponent (NaN), and the part then lies outside its bounds, whichever they are. about: the
    text, with ``{}`` for the mean. lost: the text if a run diverged.
    """
    found = [one + 0.0 for one in exponents]  # no negative zero
    return Part(LOST, Bounds(0), lost) if any(map(math.isnan, found)) else Part(sample(found), bounds, about)
