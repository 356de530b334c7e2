"""Exponents of power laws: slopes of logarithms, as evidence with intervals over seeds."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fedatlas.results.claims.base import BoundedCheck
from fedatlas.results.claims.evidence import Bounds, Evidence
from fedatlas.results.claims.results import Results
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


@dataclass(frozen=True, kw_only=True)
class ExponentCheck(BoundedCheck):
    """A check of exponents that must lie between bounds."""

    def exponent_evidence(
        self,
        results: Results,
        algorithms: Iterable[str],
        exponents: Iterable[float],
        subject: str,
        template: str,
        limits: Bounds | None = None,
    ) -> Evidence:
        """Return the evidence of the mean of exponents over seeds.

        Args:
            results: The results.
            algorithms: Ids of the algorithms whose runs the exponents are of.
            exponents: The exponent of each seed, NaN where a run diverged: then the evidence lies outside its bounds,
                whichever they are.
            subject: The runs in words, of which a text says that they diverged.
            template: Text with ``{}`` for the mean.
            limits: Bounds of the mean; by default those of the options.
        """
        values = [value + 0.0 for value in exponents]  # adding 0 turns a negative zero into zero
        if any(map(math.isnan, values)):
            return Evidence(DIVERGED, Bounds(0), f"{subject} diverged")
        exact = results.is_deterministic(*algorithms)
        return Evidence(sample(values, exact=exact), limits or self.limits(), template)
