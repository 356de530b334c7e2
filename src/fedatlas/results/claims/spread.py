"""Dependence of scores on tuned hyper-parameters."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fedatlas.experiments.selection import select_rows
from fedatlas.registry.options import option
from fedatlas.results.claims.base import BoundedCheck, MultiAlgorithmCheck
from fedatlas.results.claims.evidence import Evidence, judge_all
from fedatlas.results.claims.quantities import score
from fedatlas.results.claims.results import Results
from fedatlas.results.claims.verdicts import NotTested, Outcome
from fedatlas.results.comparing.intervals import sample

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Spread(BoundedCheck, MultiAlgorithmCheck):
    """Held if the ratio of the largest score to the smallest, over all values tried for the algorithms, lies in the
    bounds in every setting of ``where``.

    Values are compared on the tuning seeds: each seed has its ratio. What diverged makes the ratio infinite.
    """

    name = "spread"
    tunes = True

    among: dict[str, Any] = option(
        dict, doc="values of tuned hyper-parameters to keep, one or a list; by default all", names="tuned"
    )

    def judge(self, results: Results) -> Outcome:
        import pandas as pd

        rows = pd.concat([results.rows(id, self.where, results.trials) for id in self.algorithms])
        for parameter in self.among:
            results.validate_tuned(parameter, rows, self.algorithms[0])
        evidence = []
        for point, part in results.settings(select_rows(rows, self.among)):
            ratios = [_ratio(values) for _, values in part.groupby("seed") if len(values) > 1]
            location = results.location(point)
            if ratios:
                select = results.view.select
                words = score(select.tuning_metric, select.statistic)
                template = f"largest {words} {{}} times the smallest{location}"
                evidence.append(
                    Evidence(sample(ratios, True, results.is_deterministic(*self.algorithms)), self.limits(), template)
                )
        if not evidence:
            raise NotTested("Fewer than two tuned values")
        return judge_all(evidence, more=self.more)


def _ratio(runs: "pd.DataFrame") -> float:
    """Return the ratio of the runs of a seed; infinite where a run diverged."""
    if (runs["diverged"] > 0).any() or not runs["score"].map(math.isfinite).all():
        return math.inf
    if runs["score"].min() <= 0:
        raise NotTested("A score is not positive, so that ratios mean nothing")
    return float(runs["score"].max() / runs["score"].min())
