"""Means over seeds compared with bounds on expectations."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from fedatlas import labels
from fedatlas.checks.averages import interval
from fedatlas.checks.base import OfOne
from fedatlas.checks.results import Outcome, Results
from fedatlas.options import option

if TYPE_CHECKING:
    from fedatlas.experiments.cells import Run


@dataclass(frozen=True, kw_only=True)
class MeanBelow(OfOne):
    """Held if the expectation of what FedSpeed's Theorem 4.4 bounds is at most the bound, for sure, for all numbers T
    of rounds in all settings of ``where``.

    The differences between the mean of |grad F(z^t)|^2 and the bound are independent for the seeds. Student's t
    interval of their mean, at 95 percent, must lie at or below 0 for every T that is a power of 2 and for the last. No
    run may diverge. Of each setting the largest ratio to the bound is told, where some T fail the largest lower end of
    their intervals.
    """

    name = "mean_below"
    inputs = frozenset({"theorems"})

    theorem: Literal["4.4", "4.4 scaled", "4.4 with noise"] = option(
        doc="the bound as printed, with the powers of its proof, or also with the variance of the mean gradient"
    )

    def fits(self, runs: "Iterable[tuple[str, Run]]") -> None:
        from fedatlas.theory import fedspeed_bound

        for _, run in runs:
            fedspeed_bound.check(run)

    def judge(self, results: Results) -> Outcome:
        import numpy as np

        from fedatlas.theory import fedspeed_bound

        rows, texts, held, seeds = results.rows(self.algorithm, self.where, results.curves), [], True, 0
        for point, part in results.settings(rows):
            place = f" at {results.point(point)}" if results.point(point) else ""
            found = fedspeed_bound.runs(results.view, self.theorem, self.algorithm, part)
            if not np.isfinite(found.measured).all():
                return Outcome(f"diverged{place}", False)
            seeds = len(found.measured)
            at = [i for i, T in enumerate(found.rounds) if T & (T - 1) == 0 or T == found.rounds[-1]]
            apart, bound = (found.measured - found.bound)[:, at], found.bound[:, at].mean(axis=0)
            least, most = (end / bound for end in interval(apart))
            middle, within = apart.mean(axis=0) / bound, most <= 0
            worst = int(np.argmax(middle if within.all() else np.where(within, -np.inf, least)))
            low, mean, high = (labels.number(1 + float(end[worst])) for end in (least, middle, most))
            held &= bool(within.all())
            texts.append(f"at most {mean} ({low} to {high}) of the bound{place}")
        return Outcome("; ".join(texts), held, f"95 % intervals over {seeds} seeds.")
