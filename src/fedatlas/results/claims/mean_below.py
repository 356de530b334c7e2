"""Means over seeds compared with bounds on expectations."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from fedatlas.registry.options import option
from fedatlas.results.claims.base import AlgorithmCheck
from fedatlas.results.claims.evidence import Bounds, Evidence, exact_outcome, judge_all
from fedatlas.results.claims.results import Results
from fedatlas.results.claims.verdicts import Outcome
from fedatlas.results.comparing.intervals import sample

if TYPE_CHECKING:
    from fedatlas.experiments.cells import Run


@dataclass(frozen=True, kw_only=True)
class MeanBelow(AlgorithmCheck):
    """Held if the expectation of what FedSpeed's Theorem 4.4 bounds is at most the bound, for all numbers T of rounds
    in all settings of ``where``.

    Compared is the mean over seeds of |grad F(z^t)|^2 divided by the bound, for every T that is a power of 2 and for
    the last. No run may diverge.
    """

    name = "mean_below"

    theorem: Literal["4.4", "4.4 scaled", "4.4 with noise"] = option(
        doc="the bound as printed, with the powers of its proof, or also with the variance of the mean gradient"
    )

    @property
    def inputs(self) -> frozenset[str]:
        return frozenset({"theorems"})

    def fits(self, runs: "Iterable[tuple[str, Run]]") -> None:
        from fedatlas.theory import fedspeed

        for _, run in runs:
            fedspeed.validate_run(run)

    def judge(self, results: Results) -> Outcome:
        import numpy as np

        from fedatlas.theory import fedspeed

        rows, evidence = results.rows(self.algorithm, self.where, results.curves), []
        for point, part in results.settings(rows):
            location = results.location(point)
            comparison = fedspeed.compare_runs(results.view, self.theorem, self.algorithm, part)
            seeds = sorted(part["seed"].unique())
            results.keep(fedspeed.COLUMN, part, 2, dict(zip(seeds, comparison.measured, strict=True)))
            if not np.isfinite(comparison.measured).all():
                return exact_outcome(f"diverged{location}", False)
            shares = 1 + (comparison.measured - comparison.bound) / comparison.bound.mean(axis=0)
            for i, T in enumerate(comparison.rounds):
                if T & (T - 1) == 0 or T == comparison.rounds[-1]:
                    template = f"{{}} of the bound after {T} rounds{location}"
                    evidence.append(Evidence(sample(shares[:, i]), Bounds(high=1), template))
        return judge_all(evidence)
