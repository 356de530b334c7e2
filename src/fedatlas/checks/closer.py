"""Root mean squares over rounds, compared seed by seed."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fedatlas import labels
from fedatlas.checks.averages import interval, mean_squares
from fedatlas.checks.base import Contest, OfMetric
from fedatlas.checks.results import Outcome, Results
from fedatlas.options import option

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Closer(OfMetric, Contest):
    """Held if the root mean square of the metric from round ``after`` on is more than ``factor`` times smaller than
    that of each of ``than``, in every setting of ``where``, for certain.

    Compared are the logarithms of the ratios of each seed, and certain means that Student's t interval of their mean at
    ``level`` lies above log ``factor``, with Bonferroni's correction for the number of comparisons.
    """

    name = "closer"

    factor: float = option(1, doc="how many times smaller it must be", above=0)
    after: int = option(0, doc="first round of the mean", unit="rounds", low=0)
    level: float = option(0.01, doc="significance level of all comparisons together", above=0, high=1)

    def judge(self, results: Results) -> Outcome:
        import numpy as np

        roots = {}
        for id in (self.algorithm, *self.than):
            rows = results.rows(id, self.where, results.curves)
            for point, part in results.settings(rows):
                roots[id, point] = np.sqrt(mean_squares(results, part, self.metric, self.after))
        points = [point for id, point in roots if id == self.algorithm]
        level, texts, worst = self.level / (len(points) * len(self.than)), [], (math.inf, "")
        for point in points:
            ours, names = roots[self.algorithm, point], [self.algorithm, *self.than]
            means = [f"{results.name(id)} {labels.number(roots[id, point].mean())}" for id in names]
            place = results.point(point)
            texts.append(", ".join(means) + (f" at {place}" if place else ""))
            for other in self.than:
                worst = min(worst, (self._ratio(ours, roots[other, point], level), results.name(other)))
        note = f"At least {labels.number(worst[0])} times smaller than that of {worst[1]}, over {len(ours)} seeds."
        return Outcome("; ".join(texts), worst[0] > self.factor, note)

    def _ratio(self, ours: "pd.Series", theirs: "pd.Series", level: float) -> float:
        """Lower end of the interval of theirs / ours; 0 if a run of ours diverged, inf if all of theirs did."""
        import numpy as np

        if not np.isfinite(ours).all():
            return 0.0
        if np.isinf(theirs).all():
            return math.inf
        finite = theirs[np.isfinite(theirs)]  # what diverged is farther than any number
        return math.exp(interval(np.log(finite / ours[finite.index]).to_numpy(float), level, 1)[0])
