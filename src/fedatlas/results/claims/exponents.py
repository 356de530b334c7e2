"""The power with which one number grows with another: the slope of its logarithm, with an interval over seeds."""

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from fedatlas.results.claims.evidence import Bounds, Evidence
from fedatlas.results.claims.verdicts import NotTested
from fedatlas.results.comparing.intervals import DIVERGED, sample

if TYPE_CHECKING:
    import numpy as np


def exponent(at: "Sequence[float] | np.ndarray", numbers: "Sequence[float] | np.ndarray") -> float:
    """The slope of log numbers against log ``at``; NaN where a number is not finite, as of a run that diverged.

    at: at least two different values. Raises NotTested where a value of ``at`` or a finite number has no logarithm.
    """
    import numpy as np

    x, y = np.asarray(at, float), np.asarray(numbers, float)
    if not np.isfinite(y).all():
        return math.nan
    if not (np.isfinite(x).all() and (x > 0).all() and (y > 0).all()):
        raise NotTested("Not all numbers are positive, so they have no exponent")
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def exponent_evidence(exponents: Iterable[float], bounds: Bounds, about: str, lost: str) -> Evidence:
    """The part of a claim about the mean of exponents, one for each seed.

    A run that diverged has no exponent (NaN), and the part then lies outside its bounds, whichever they are. about: the
    text, with ``{}`` for the mean. lost: the text if a run diverged.
    """
    found = [one + 0.0 for one in exponents]  # no negative zero
    return (
        Evidence(DIVERGED, Bounds(0), lost) if any(map(math.isnan, found)) else Evidence(sample(found), bounds, about)
    )
