"""Runs compared with the bounds of theorems."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fedatlas.experiments import labels
from fedatlas.registry.options import option
from fedatlas.results.claims.base import AlgorithmCheck
from fedatlas.results.claims.evidence import exact_outcome
from fedatlas.results.claims.results import Results
from fedatlas.results.claims.verdicts import Outcome

if TYPE_CHECKING:
    import pandas as pd

    from fedatlas.experiments.cells import Run


@dataclass(frozen=True, kw_only=True)
class Below(AlgorithmCheck):
    """Held if what a theorem bounds is at most the bound at every evaluation of every run of ``where``, none of which
    diverged or ended early."""

    name = "below"

    theorem: int | str = option(doc="number of a theorem on DANE+, FedRed or FedSPS", names="theorem")

    @property
    def inputs(self) -> frozenset[str]:
        return frozenset({"theorems"})

    def fits(self, runs: "Iterable[tuple[str, Run]]") -> None:
        from fedatlas.theory import comparison

        for _, run in runs:
            comparison.validate_run(self.theorem, run)

    def judge(self, results: Results) -> Outcome:
        from fedatlas.theory.comparison import compare_runs, largest_ratio, measured_column

        def compute(rows: "pd.DataFrame") -> dict[int, float]:
            runs = list(compare_runs(results.view, self.theorem, self.algorithm, rows))
            results.keep(measured_column(self.theorem), rows, 1, {run.seed: run.measured for run in runs})
            return {run.seed: largest_ratio(run.measured, run.bound) for run in runs}

        rows, texts, largest = results.rows(self.algorithm, self.where, results.curves), [], 0.0
        for point, part in results.settings(rows):
            ratios = results.of_runs(f"largest ratio to the bound of theorem {self.theorem}", part, compute)
            ratio = ratios.max() if ratios.notna().all() else math.nan
            largest = ratio if math.isnan(ratio) else max(largest, ratio)
            text = f"at most {labels.number(ratio)} of the bound" if math.isfinite(ratio) else "diverged or ended early"
            texts.append(text + results.location(point))
        return exact_outcome("; ".join(texts), largest <= 1, seeds=rows["seed"].nunique(), value=largest)
