"""Runs compared with the bounds of theorems."""

import math
from dataclasses import dataclass

from fedatlas import labels
from fedatlas.checks.base import OfOne
from fedatlas.checks.evidence import exact
from fedatlas.checks.results import NotTested, Outcome, Results
from fedatlas.options import option


@dataclass(frozen=True, kw_only=True)
class Below(OfOne):
    """Held if what a theorem bounds is at most the bound at every evaluation of every run of ``where``, none of which
    diverged or ended early."""

    name = "below"
    inputs = frozenset({"theorems"})

    theorem: int | str = option(doc="number of a theorem on DANE+, FedRed or FedSPS", names="theorem")

    def judge(self, results: Results) -> Outcome:
        from fedatlas.theory.comparison import NotCovered, runs, worst

        rows, texts, largest = results.rows(self.algorithm, self.where, results.curves), [], 0.0
        for point, part in results.settings(rows):
            try:
                found = list(runs(results.view, self.theorem, self.algorithm, part))
            except NotCovered as reason:
                raise NotTested(f"{str(reason)[:1].upper()}{str(reason)[1:]}") from None
            ratio = max(worst(run.measured, run.bound) for run in found)
            largest = ratio if math.isnan(ratio) else max(largest, ratio)
            place = results.point(point)
            text = f"at most {labels.number(ratio)} of the bound" if math.isfinite(ratio) else "diverged or ended early"
            texts.append(f"{text}{' at ' + place if place else ''}")
        return exact("; ".join(texts), largest <= 1, seeds=rows["seed"].nunique(), value=largest)
