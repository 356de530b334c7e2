"""Runs compared with the bounds of theorems."""

import math
from collections.abc import Iterable, Iterator, Sequence
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
from fedatlas.results.comparing.theorems import RunComparison, compare_runs, validate_run
from fedatlas.theory.theorems import theorem

if TYPE_CHECKING:
    import pandas as pd

    from fedatlas.experiments.cells import Run

RESOLUTION = 1e-16  # of double precision, relative to the first bound


@dataclass(frozen=True, kw_only=True)
class Below(BoundedCheck, MultiAlgorithmCheck):
    """Held if what a theorem bounds, divided by the bound, lies in the bounds of the check, for all algorithms and
    settings of ``where``.

    A theorem on DANE+, FedRed or FedSPS is about every run: the largest ratio of all evaluations counts, and no run may
    diverge or end early. One on FedAc, FedAvg or FedSpeed bounds an expectation: the mean over seeds counts, of FedAc's
    last suboptimality, and of FedSpeed's gradients after every number of rounds that is a power of 2 and after the
    last. ``at_most: 1`` is the theorem; ``at_least: 0.01`` says that its bound is at most 100 times too large. The text
    has the largest ratio and its round, or with ``at_least`` the smallest.
    """

    name = "below"

    theorem: int | str = option(doc="number of a theorem on DANE+, FedRed, FedSPS, FedAc or FedSpeed", names="theorem")
    at_most: float | None = option(1.0, doc="largest share of the bound that passes")

    @property
    def inputs(self) -> frozenset[str]:
        return frozenset({"theorems"})

    def fits(self, runs: "Iterable[tuple[str, Run]]") -> None:
        for _, run in runs:
            validate_run(theorem(self.theorem), run)

    def paper_text(self, results: Results) -> str:
        promised = self.at_most if self.at_least is None else None  # how loose a bound is, no theorem says
        return f"at most {labels.number(promised)}" if promised == 1 else super().paper_text(results)

    def judge(self, results: Results) -> Outcome:
        settings = [
            (id, results.location(point), part)
            for id in self.algorithms
            for point, part in results.settings(results.rows(id, self.where, results.curves))
        ]
        if theorem(self.theorem).in_mean:
            evidence = [item for part in settings for item in self._shares(results, *part)]
            return judge_all(evidence, more=self.more, shown=self._extreme(evidence))
        texts, ratios = [], []
        for id, location, rows in settings:
            ratio, place = self._largest_ratio(results, id, rows)
            ratios.append(ratio)
            text = f"at most {labels.number(ratio)} of the bound{place}"
            text = text if math.isfinite(ratio) else "diverged or ended early"
            texts.append(f"{self._name(results, id)}{text}{location}")
        held = all(self.limits().side(ratio) == 0 for ratio in ratios)
        seeds = len({seed for _, _, rows in settings for seed in rows["seed"]})
        return exact_outcome("; ".join(texts), held, seeds=seeds, value=max(ratios))

    def _largest_ratio(self, results: Results, id: str, rows: "pd.DataFrame") -> tuple[float, str]:
        """Return the largest ratio of an algorithm's runs in one setting, and the round in words.

        The ratio is infinite if a run ended early.
        """
        runs = {run.seed: run for run in self._compare(results, id, rows)}
        largest = {seed: largest_ratio(run.measured, run.bound) for seed, run in runs.items()}
        if not np.isfinite([*largest.values()]).all():
            return math.inf, ""
        run = runs[max(largest, key=largest.__getitem__)]
        counted = theorem(self.theorem).counted.partition(" $")[0]
        at = labels.number(run.counted[ratios(run.measured, run.bound).argmax()])
        return max(largest.values()), f" after {at} {counted}"

    def _shares(self, results: Results, id: str, location: str, rows: "pd.DataFrame") -> Iterator[Evidence]:
        """Yield the evidence of a theorem that bounds an expectation, from an algorithm's runs in one setting.

        The mean of the shares is the ratio of the means of what is measured, which is not negative, and of its bound.
        """
        runs, name = self._compare(results, id, rows), self._name(results, id)
        measured, bound = (np.stack([run[k] for run in runs]) for k in (2, 3))
        if not np.isfinite(measured).all():
            yield Evidence(DIVERGED, Bounds(0), f"{name}diverged{location}")
            return
        rounds = runs[0].counted.astype(int)
        shares = 1 + (measured - bound) / bound.mean(axis=0)
        word = "at most" if self.at_least is None else "at least"
        for i, T in enumerate(rounds.tolist()):
            if T & (T - 1) == 0 or T == rounds[-1]:
                after = f" after {T} rounds" if len(rounds) > 1 else ""
                numbers = sample(shares[:, i], exact=results.is_deterministic(id), mean=True, least=0)
                yield Evidence(numbers, self.limits(), f"{name}{word} {{}} of the bound{after}{location}")

    def _extreme(self, evidence: Sequence[Evidence]) -> Evidence | None:
        """Return the evidence with the largest share, or the smallest where the check is how loose the bound is."""
        lost = next((item for item in evidence if item.estimate is DIVERGED), None)
        choose = max if self.at_least is None else min
        return lost or choose(evidence, key=lambda item: item.estimate.value, default=None)

    def _compare(self, results: Results, id: str, rows: "pd.DataFrame") -> list[RunComparison]:
        """Compare an algorithm's runs in one setting with the theorem."""
        return compare_runs(theorem(self.theorem), results.view, id, rows)

    def _name(self, results: Results, id: str) -> str:
        """Return the start of a text on an algorithm: its name, where there are several."""
        return f"{results.name(id)}: " if len(self.algorithms) > 1 else ""


def largest_ratio(measured: np.ndarray, bound: np.ndarray) -> float:
    """Return the largest measured / bound; infinite without rounds, or if a value is missing or not finite.

    Values below the resolution of double precision, relative to the first bound, count as 0.
    """
    if not len(measured) or not np.isfinite(measured).all():
        return np.inf
    return float(np.max(ratios(measured, bound)))


def ratios(measured: np.ndarray, bound: np.ndarray) -> np.ndarray:
    """Return measured / bound at each evaluation; 0 below the resolution of double precision, relative to the first."""
    resolved = np.maximum(measured - RESOLUTION * bound[0], 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(resolved > 0, resolved / bound, 0)
