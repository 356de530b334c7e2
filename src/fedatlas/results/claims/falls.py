"""The fall along an axis of the rounds that attain an accuracy."""

import math
from dataclasses import dataclass

from fedatlas.registry.options import option
from fedatlas.results.claims.base import MetricCheck, MultiAlgorithmCheck
from fedatlas.results.claims.evidence import judge_all
from fedatlas.results.claims.exponents import ExponentCheck, exponent
from fedatlas.results.claims.results import Results
from fedatlas.results.claims.target_costs import target_costs
from fedatlas.results.claims.verdicts import NotTested, Outcome
from fedatlas.results.comparing.targets import has_diverged


@dataclass(frozen=True, kw_only=True)
class Falls(ExponentCheck, MetricCheck, MultiAlgorithmCheck):
    """Held if the rounds that attain an accuracy fall as a power of ``axis``, with an exponent in the bounds.

    Counted are the rounds until the metric first is at most ``until`` times its first value. The exponent is minus the
    slope of their logarithm against that of ``axis``, for each seed, over all settings of ``where``; its mean must lie
    in the bounds, for all ``algorithms``. A run that diverges is not held. If one does not attain the accuracy in its
    rounds, no exponent was measured and the claim is not tested, whichever bound it has.
    """

    name = "falls"

    axis: str = option(doc="axis of positive numbers, such as local_steps", names="axis of numbers")
    until: float = option(doc="share of the metric's first value that is attained", above=0, below=1)

    def judge(self, results: Results) -> Outcome:
        metric, evidence = self.metric or results.view.select.metric, []
        results.validate_metric(metric)
        results.validate_axis("axis", self.axis)
        for algorithm in self.algorithms:
            rows = results.rows(algorithm, self.where, results.curves)
            if rows[self.axis].nunique() < 2:
                raise NotTested(f"Fewer than two values of {self.axis}")
            name = results.name(algorithm)
            pairs: dict[int, list[tuple[float, float]]] = {}
            for _, part in results.settings(rows):
                rounds, runs = (
                    target_costs(results, part, metric, "rounds", self.until),
                    dict(iter(part.groupby("seed"))),
                )
                if any(math.isinf(needed) and not has_diverged(runs[seed]) for seed, needed in rounds.items()):
                    raise NotTested(f"not attained by {name}")
                for seed, needed in rounds.items():
                    pairs.setdefault(seed, []).append((float(part[self.axis].iloc[0]), needed))
            exponents = [-exponent(*zip(*pairs[seed], strict=True)) for seed in sorted(pairs)]
            evidence.append(self.exponent_evidence(results, [algorithm], exponents, name, f"{name}: exponent {{}}"))
        return judge_all(evidence, more=self.more)
