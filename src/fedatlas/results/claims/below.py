"""Runs compared with the bounds of theorems."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fedatlas.experiments import labels
from fedatlas.registry.options import option
from fedatlas.results.claims.base import BoundedCheck, MultiAlgorithmCheck
from fedatlas.results.claims.evidence import Bounds, Evidence, exact_outcome, judge_all
from fedatlas.results.claims.results import Results
from fedatlas.results.claims.verdicts import Outcome
from fedatlas.results.comparing.intervals import DIVERGED, sample

if TYPE_CHECKING:
    import pandas as pd

    from fedatlas.experiments.cells import Run
    from fedatlas.theory.comparison import RunComparison


@dataclass(frozen=True, kw_only=True)
class Below(BoundedCheck, MultiAlgorithmCheck):
    """Held if what a theorem bounds, divided by the bound, lies in the bounds of the check, for all algorithms and
    settings of ``where``.

    A theorem on DANE+, FedRed or FedSPS is about every run: the largest ratio of all evaluations counts, and no run may
    diverge or end early. One on FedAc, FedAvg or FedSpeed bounds an expectation: the mean over seeds counts, of FedAc's
    last suboptimality, and of FedSpeed's gradients after every number of rounds that is a power of 2 and after the
    last. ``at_most: 1`` is the theorem; ``at_least: 0.01`` says that its bound is at most 100 times too large.
    """

    name = "below"

    theorem: int | str = option(doc="number of a theorem on DANE+, FedRed, FedSPS, FedAc or FedSpeed", names="theorem")
    at_most: float | None = option(1.0, doc="largest share of the bound that passes")

    @property
    def inputs(self) -> frozenset[str]:
        return frozenset({"theorems"})

    def fits(self, runs: "Iterable[tuple[str, Run]]") -> None:
        from fedatlas.theory.theorems import theorem

        for _, run in runs:
            theorem(self.theorem).validate_run(run)

    def judge(self, results: Results) -> Outcome:
        from fedatlas.theory.theorems import theorem

        settings = [
            (id, results.location(point), part)
            for id in self.algorithms
            for point, part in results.settings(results.rows(id, self.where, results.curves))
        ]
        if theorem(self.theorem).in_mean:
            return judge_all([item for part in settings for item in self._shares(results, *part)], more=self.more)
        texts, ratios = [], []
        for id, location, rows in settings:
            ratios.append(self._largest_ratio(results, id, rows))
            text = f"at most {labels.number(ratios[-1])} of the bound"
            text = text if math.isfinite(ratios[-1]) else "diverged or ended early"
            texts.append(f"{self._name(results, id)}{text}{location}")
        held = all(self.limits().side(ratio) == 0 for ratio in ratios)
        seeds = len({seed for _, _, rows in settings for seed in rows["seed"]})
        return exact_outcome("; ".join(texts), held, seeds=seeds, value=max(ratios))

    def _largest_ratio(self, results: Results, id: str, rows: "pd.DataFrame") -> float:
        """Return the largest ratio of an algorithm's runs in one setting; infinite if one ended early."""
        from fedatlas.theory.comparison import largest_ratio

        ratios = [largest_ratio(run.measured, run.bound) for run in self._compare(results, id, rows)]
        return math.inf if any(map(math.isnan, ratios)) else max(ratios)

    def _shares(self, results: Results, id: str, location: str, rows: "pd.DataFrame") -> Iterator[Evidence]:
        """Yield the evidence of a theorem that bounds an expectation, from an algorithm's runs in one setting."""
        runs, name = self._compare(results, id, rows), self._name(results, id)
        rounds, measured, bound = runs[0].counted, *(np.stack([run[k] for run in runs]) for k in (2, 3))
        if not np.isfinite(measured).all():
            yield Evidence(DIVERGED, Bounds(0), f"{name}diverged{location}")
            return
        shares = 1 + (measured - bound) / bound.mean(axis=0)
        for i, T in enumerate(rounds.tolist()):
            if T & (T - 1) == 0 or T == rounds[-1]:
                after = f" after {T} rounds" if len(rounds) > 1 else ""
                numbers = sample(shares[:, i], exact=results.is_deterministic(id), mean=True)
                yield Evidence(numbers, self.limits(), f"{name}{{}} of the bound{after}{location}")

    def _compare(self, results: Results, id: str, rows: "pd.DataFrame") -> "list[RunComparison]":
        """Compare an algorithm's runs in one setting with the theorem."""
        from fedatlas.theory.theorems import theorem

        return list(theorem(self.theorem).compare_runs(results.view, id, rows))

    def _name(self, results: Results, id: str) -> str:
        """Return the start of a text on an algorithm: its name, where there are several."""
        return f"{results.name(id)}: " if len(self.algorithms) > 1 else ""
