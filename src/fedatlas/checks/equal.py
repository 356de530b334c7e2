"""Algorithms whose scores agree."""

import itertools
import math
from dataclasses import dataclass

from fedatlas.checks.base import OfScore, OfSeveral
from fedatlas.checks.evidence import LOST, Bounds, Part, judged, paired, sample
from fedatlas.checks.results import Outcome, Results
from fedatlas.options import option

ROUNDING = 1e-14  # differences of scores that double precision does not resolve


@dataclass(frozen=True, kw_only=True)
class Equal(OfScore, OfSeveral):
    """Held if the scores of each two algorithms agree to a ``tolerance`` in every setting of ``where``.

    Runs of one seed are compared, and the interval of the mean difference must lie within the tolerance. Differences
    are relative unless ``absolute``; those below 10⁻¹⁴ are rounding error. Settings where both diverged are left out.
    """

    name = "equal"

    tolerance: float = option(doc="largest difference", low=0)
    absolute: bool = option(False, doc="whether the tolerance is an amount, and not a share of the larger score")

    def judge(self, results: Results) -> Outcome:
        scores = {one: results.samples(one, self.where, self.metric, self.statistic) for one in self.algorithms}
        bounds, parts = Bounds(-self.tolerance, self.tolerance), []
        for one, other in itertools.combinations(self.algorithms, 2):
            names = f"{results.name(one)} and {results.name(other)}"
            for point in [point for point in scores[one] if point in scores[other]]:
                pairs = paired(scores[one][point], scores[other][point])
                pairs = [pair for pair in pairs if any(map(math.isfinite, pair))]
                place = f" at {results.point(point)}" if results.point(point) else ""
                if pairs and all(math.isfinite(score) for pair in pairs for score in pair):
                    differences = sample(self._difference(*pair) for pair in pairs)
                    what = "difference" if self.absolute else "relative difference"
                    parts.append(Part(differences, bounds, f"{what} {{}} of {names}{place}"))
                elif pairs:
                    parts.append(Part(LOST, bounds, f"one of {names} diverged{place}"))
        return judged(parts)

    def _difference(self, a: float, b: float) -> float:
        """The difference of two scores."""
        if abs(a - b) <= ROUNDING:
            return 0.0
        return (a - b) / (1 if self.absolute else max(abs(a), abs(b)))
