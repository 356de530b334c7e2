"""How the rounds that attain an accuracy fall along an axis."""

import math
from dataclasses import dataclass

from fedatlas.checks.base import Bounded, OfMetric, OfSeveral
from fedatlas.checks.evidence import Part, judged
from fedatlas.checks.results import NotTested, Outcome, Results
from fedatlas.comparing.attaining import spent
from fedatlas.comparing.intervals import sample
from fedatlas.options import option


@dataclass(frozen=True, kw_only=True)
class Falls(Bounded, OfMetric, OfSeveral):
    """Held if the rounds that attain an accuracy fall as a power of ``axis``, with an exponent in the bounds.

    Counted are the rounds until the metric first is at most ``until`` times its first value. The exponent is minus the
    slope of their logarithm against that of ``axis``, for each seed, over all settings of ``where``; its mean must lie
    in the bounds, for all ``algorithms``. Where a run does not attain the accuracy, no exponent was measured and the
    claim is not tested, whichever bound it has.
    """

    name = "falls"

    axis: str = option(doc="axis of positive numbers, such as local_steps", names="axis of numbers")
    until: float = option(doc="share of the metric's first value that is attained", above=0, below=1)

    def judge(self, results: Results) -> Outcome:
        import numpy as np

        metric, parts = self.metric or results.view.select.metric, []
        results.check_metric(metric)
        results.check_axis("axis", self.axis)
        for algorithm in self.algorithms:
            rows = results.rows(algorithm, self.where, results.curves)
            if rows[self.axis].nunique() < 2:
                raise NotTested(f"Fewer than two values of {self.axis}")
            slopes = []
            for _, of_seed in rows.groupby("seed"):
                runs = [part for _, part in results.settings(of_seed)]
                rounds = [spent(run, metric, "rounds", [self.until])[0] for run in runs]
                if not all(map(math.isfinite, rounds)):
                    raise NotTested(f"not attained by {results.name(algorithm)}")
                at = [float(run[self.axis].iloc[0]) for run in runs]
                slopes.append(-float(np.polyfit(np.log(at), np.log(rounds), 1)[0]))
            parts.append(Part(sample(slopes), self.limits(), f"{results.name(algorithm)}: exponent {{}}"))
        return judged(parts, more=self.more)
