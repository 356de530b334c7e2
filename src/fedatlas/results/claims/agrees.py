"""Simulations compared with closed forms."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fedatlas.errors import lookup
from fedatlas.experiments import labels
from fedatlas.experiments.axis_values import parse
from fedatlas.registry.options import option
from fedatlas.results.claims.base import AlgorithmCheck
from fedatlas.results.claims.evidence import exact_outcome
from fedatlas.results.claims.results import Results
from fedatlas.results.claims.verdicts import NotTested, Outcome
from fedatlas.theory import closed_forms
from fedatlas.theory.closed_forms import LIMITS, late_means, probabilities

if TYPE_CHECKING:
    from fedatlas.experiments.cells import Run

ROUNDING = 1e-9


@dataclass(frozen=True, kw_only=True)
class Agrees(AlgorithmCheck):
    """Held if the metric's mean from round ``after`` on is the closed form ``limit`` within the Monte-Carlo error of
    the seeds, in every setting of ``where``.

    The seeds' means over time are independent, so their distance from the limit in standard errors is Student's t. No
    setting may deviate significantly at ``level``, with Bonferroni's correction for the number of settings.
    """

    name = "agrees"

    limit: str = option(doc="name of the closed form", names="limit")
    metric: str = option(doc="the metric", names="metric")
    after: int = option(0, doc="first round of the mean", unit="rounds", low=0)
    level: float = option(0.01, doc="significance level of all settings together", above=0, high=1)

    def fits(self, runs: "Iterable[tuple[str, Run]]") -> None:
        for _, run in runs:
            closed_forms.validate(run.problem, run.setting)

    def judge(self, results: Results) -> Outcome:
        from scipy import stats

        closed = lookup("limit", self.limit, LIMITS)
        rows = results.rows(self.algorithm, self.where, results.curves)
        deviations, seeds = [], 0
        for point, part in results.settings(rows):
            values = late_means(part, [], self.metric, self.after).to_numpy(float)
            if not len(values):
                continue
            if (seeds := len(values)) < 2:
                raise NotTested("A standard error needs two seeds at least")
            p = probabilities(results.view.setting, dict(zip(results.axes, map(parse, point), strict=True)))
            difference = values.mean() - closed(results.view.problem, p)
            error = values.std(ddof=1) / math.sqrt(seeds)
            deviations.append(0.0 if abs(difference) <= ROUNDING else difference / error if error else math.inf)
        if not deviations:
            raise NotTested(f"No evaluations from round {self.after} on")
        allowed = float(stats.t.ppf(1 - self.level / 2 / len(deviations), seeds - 1))
        worst = max(map(abs, deviations))
        square = sum(z * z for z in deviations) / len(deviations)
        words = f"largest deviation of the mean {labels.words(self.metric)} from the closed form"
        text = f"{words} {labels.number(worst)} standard errors over {len(deviations)} settings"
        expected = (seeds - 1) / (seeds - 3) if seeds > 3 else math.inf
        squares = f"mean square {labels.number(square)}, expected {labels.number(expected)}"
        return exact_outcome(text, worst <= allowed, f"{labels.number(allowed)} are allowed; {squares}.", seeds, worst)
