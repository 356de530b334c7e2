"""Exponents of power laws: slopes of logarithms, as evidence with intervals over seeds."""

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from fedatlas.results.claims.evidence import Bounds, Evidence
from fedatlas.results.claims.verdicts import NotTested
from fedatlas.results.comparing.intervals import DIVERGED, sample

if TYPE_CHECKING:
    import numpy as np


def exponent(points: "Sequence[float] | np.ndarray", numbers: "Sequence[float] | np.ndarray") -> float:
    """Return the slope of log numbers against log points; NaN where a number is not finite, as of a diverged run.

    Args:
        points: At least two different abscissas.
        numbers: The numbers at these points.

    Raises:
        NotTested: If a point or a finite number has no logarithm.
    """
    import numpy as np

    x, y = np.asarray(points, float), np.asarray(numbers, float)
    if not np.isfinite(y).all():
        return math.nan
    if not (np.isfinite(x).all() and (x > 0).all() and (y > 0).all()):
        raise NotTested("Not all numbers are positive, so they have no exponent")
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def exponent_evidence(
    exponents: Iterable[float], bounds: Bounds, template: str, diverged: str, exact: bool = False
) -> Evidence:
    """Return the evidence of the mean of exponents over seeds.

    Args:
        exponents: The exponent of each seed, NaN where a run diverged: then the evidence lies outside its bounds,
            whichever they are.
        bounds: The exponents that the claim allows.
        template: Text with ``{}`` for the mean.
        diverged: Text if a run diverged.
        exact: Whether the runs are deterministic.
    """
    values = [value + 0.0 for value in exponents]  # adding 0 turns a negative zero into zero
    if any(map(math.isnan, values)):
        return Evidence(DIVERGED, Bounds(0), diverged)
    return Evidence(sample(values, exact=exact), bounds, template)
