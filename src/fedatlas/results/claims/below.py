"""Runs compared with the bounds of theorems."""

import functools
import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fedatlas.errors import UserError
from fedatlas.experiments import labels
from fedatlas.experiments.cells import Run
from fedatlas.experiments.runs import create
from fedatlas.registry.options import option
from fedatlas.results.claims import BoundedCheck, MultiAlgorithmCheck
from fedatlas.results.claims.evidence import Bounds, Evidence, exact_outcome, judge_all
from fedatlas.results.claims.results import Results
from fedatlas.results.claims.verdicts import NotTested, Outcome
from fedatlas.results.comparing.intervals import DIVERGED, sample
from fedatlas.results.comparing.theorems import compare_runs, create_problem, run_at, validate_run
from fedatlas.theory.theorems import theorem

if TYPE_CHECKING:
    import pandas as pd

    from fedatlas.theory.fedawe.trajectories import Trajectory

RESOLUTION = 1e-16  # of double precision, relative to the first bound
EQUALITIES = ("proposition-1", "matrix-form", "doubly-stochastic", "auxiliary-form", "proposition-4", "duration")
LEVEL = 0.01  # significance level of all settings of a statement together
TOLERANCE = 1e-12  # largest relative difference of an equality


@dataclass(frozen=True, kw_only=True)
class Below(BoundedCheck, MultiAlgorithmCheck):
    """Held if what a theorem bounds, divided by the bound, lies in the bounds of the check, for all algorithms and
    settings of ``where``.

    A theorem on DANE+, FedRed or FedSPS is about every run: the largest ratio of all evaluations counts, and no run may
    diverge or end early. One on FedAc, FedAvg or FedSpeed bounds an expectation: the mean over seeds counts, of FedAc's
    last suboptimality, and of FedSpeed's gradients after every number of rounds that is a power of 2 and after the
    last. ``at_most: 1`` is the theorem; ``at_least: 0.01`` says that its bound is at most 100 times too large. The text
    has the largest ratio, or with ``at_least`` the smallest.

    A statement of the FedAWE paper is tested on runs that are simulated again, with the states of all clients in every
    round. Equalities hold to a relative 10⁻¹². Expectations are exact, or means over seeds plus their standard error
    times Student's t at 0.01, with Bonferroni's correction for the settings.
    """

    name = "below"

    theorem: int | str = option(
        doc="number of a theorem on DANE+, FedRed, FedSPS, FedAc or FedSpeed, or the name of a statement of FedAWE",
        names="theorem or statement",
    )
    at_most: float | None = option(1.0, doc="largest share of the bound that passes")

    @property
    def inputs(self) -> frozenset[str]:
        return frozenset({"runs" if self._is_simulated else "theorems"})

    @property
    def _is_simulated(self) -> bool:
        """Whether it is a statement about runs that are simulated again."""
        from fedatlas.theory.fedawe import STATEMENTS

        return self.theorem in STATEMENTS

    def fits(self, runs: "Iterable[tuple[str, Run]]") -> None:
        for _, run in runs:
            if not self._is_simulated:
                validate_run(theorem(self.theorem), run)
                continue
            from fedatlas.theory.fedawe import trajectories

            if run.tune:
                raise UserError(f"theory: {run.algorithm} is tuned; give one value to each hyper-parameter")
            algorithm, setting = create(run)
            trajectories.validate(algorithm, run.problem["kind"] == "quadratic", setting)

    def paper_text(self, results: Results) -> str:
        is_promised = self.at_least is None and self.at_most == 1 and self.theorem not in EQUALITIES
        return "at most 1" if is_promised else super().paper_text(results)

    def judge(self, results: Results) -> Outcome:
        settings = [
            (id, f"{results.name(id)}: " if len(self.algorithms) > 1 else "", results.location(point), part)
            for id in self.algorithms
            for point, part in results.settings(results.rows(id, self.where, results.curves))
        ]
        seeds = len({seed for *_, rows in settings for seed in rows["seed"]})
        if self._is_simulated:
            return self._judge_simulated(results, settings, seeds)
        if theorem(self.theorem).in_mean:
            evidence = [item for part in settings for item in self._shares(results, *part)]
            choose = max if self.at_least is None else min  # how loose the bound is, the smallest share tells
            extreme = choose(evidence, key=lambda item: item.estimate.value, default=None)
            lost = next((item for item in evidence if item.estimate is DIVERGED), None)
            return judge_all(evidence, more=self.more, shown=lost or extreme)
        texts, ratios = [], []
        for id, name, location, rows in settings:
            runs = compare_runs(theorem(self.theorem), results.view, id, rows).values()
            ratios.append(max(largest_ratio(run.measured, run.bound) for run in runs))
            text = f"at most {labels.number(ratios[-1])} of the bound"
            texts.append(f"{name}{text if math.isfinite(ratios[-1]) else 'diverged or ended early'}{location}")
        held = all(self.limits().side(ratio) == 0 for ratio in ratios)
        return exact_outcome("; ".join(texts), held, seeds=seeds, value=max(ratios))

    def _judge_simulated(
        self, results: Results, settings: "list[tuple[str, str, str, pd.DataFrame]]", seeds: int
    ) -> Outcome:
        """Return the outcome of a statement, by algorithms' ids, names, places and curves of all settings."""
        from fedatlas.theory.fedawe import STATEMENTS
        from fedatlas.theory.fedawe.trajectories import Ensemble

        comparisons = []
        for id, name, location, rows in settings:
            run = run_at(results.view, id, rows)
            parts = {"parameters": run.parameters, "problem": run.problem, "setting": run.setting}
            text = json.dumps(parts, sort_keys=True)
            drawn = [_simulate(run.algorithm, text, seed) for seed in sorted(rows["seed"].unique().tolist())]
            measured, limit = STATEMENTS[str(self.theorem)](Ensemble(drawn, LEVEL / len(settings)))
            share = measured / (TOLERANCE if limit is None else limit)
            place = f"{name}{location.removeprefix(' at ')}"
            comparisons.append((share if math.isfinite(share) else math.inf, measured, limit, place))
        share, measured, limit, place = max(comparisons, key=lambda comparison: comparison[0])
        text = f"largest relative difference {labels.number(measured)}"
        if limit is not None:
            text = f"at most {labels.number(share)} of the bound"
        note = f"Over {len(comparisons)} settings{f'; the worst is {place}' if place else ''}."
        held = self.limits().side(share) == 0
        return exact_outcome(text, held, note, seeds, measured if limit is None else share)

    def _shares(self, results: Results, id: str, name: str, location: str, rows: "pd.DataFrame") -> Iterator[Evidence]:
        """Yield the evidence of a theorem that bounds an expectation, from an algorithm's runs in one setting.

        The mean of the shares is the ratio of the means of what is measured, which is not negative, and of its bound.
        """
        runs = compare_runs(theorem(self.theorem), results.view, id, rows).values()
        counted, measured, bound = map(np.stack, zip(*runs, strict=True))
        if not np.isfinite(measured).all():
            yield Evidence(DIVERGED, Bounds(0), f"{name}diverged{location}")
            return
        rounds = counted[0].astype(int)
        shares = 1 + (measured - bound) / bound.mean(axis=0)
        word = "at most" if self.at_least is None else "at least"
        for i, T in enumerate(rounds.tolist()):
            if T & (T - 1) == 0 or T == rounds[-1]:
                after = f" after {T} rounds" if len(rounds) > 1 else ""
                numbers = sample(shares[:, i], exact=results.is_deterministic(id), mean=True, least=0)
                yield Evidence(numbers, self.limits(), f"{name}{word} {{}} of the bound{after}{location}")


def largest_ratio(measured: np.ndarray, bound: np.ndarray) -> float:
    """Return the largest measured / bound; infinite without rounds, or if a value is missing or not finite.

    Values below the resolution of double precision, relative to the first bound, count as 0.

    Raises:
        NotTested: If a bound of finite values is not finite.
    """
    if not len(measured) or not np.isfinite(measured).all():
        return np.inf
    if not np.isfinite(bound).all():
        raise NotTested("The bound is not finite")
    resolved = np.maximum(measured - RESOLUTION * bound[0], 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.max(np.where(resolved > 0, resolved / bound, 0)))


@functools.lru_cache(maxsize=512)
def _simulate(name: str, text: str, seed: int) -> "Trajectory":
    """Return a run of an algorithm, simulated again, from its parameters, problem and setting as JSON."""
    from fedatlas.theory.fedawe.trajectories import simulate

    run = Run(name, seed=seed, within={}, tune={}, **json.loads(text))
    problem = create_problem(run.problem, run.setting["clients"])
    algorithm, setting = create(run, problem)
    return simulate(algorithm.with_constants(problem), problem, setting, seed)  # type: ignore[arg-type]
