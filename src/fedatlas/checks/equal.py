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
    """Held if the scores of each two algorithms agree to a relative ``tolerance`` in every setting of ``where``.

    Runs of one seed are compared, and the interval of the mean relative difference must lie within the tolerance.
    Differences below 10⁻¹⁴ are rounding error. Settings where both diverged are left out.
    """

    name = "equal"

    tolerance: float = option(doc="largest relative difference", low=0)

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
                    differences = sample(_difference(*pair) for pair in pairs)
                    parts.append(Part(differences, bounds, f"relative difference {{}} of {names}{place}"))
                elif pairs:
                    parts.append(Part(LOST, bounds, f"one of {names} diverged{place}"))
        return judged(parts)


def _difference(a: float, b: float) -> float:
    """The relative difference of two scores."""
    return 0.0 if abs(a - b) <= ROUNDING else (a - b) / max(abs(a), abs(b))
