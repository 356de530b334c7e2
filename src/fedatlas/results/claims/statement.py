"""Statements of the FedAWE paper about runs that are simulated again."""

import functools
import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from fedatlas.errors import UserError
from fedatlas.experiments import labels
from fedatlas.experiments.cells import Run
from fedatlas.experiments.experiment_view import ExperimentView
from fedatlas.experiments.runs import create
from fedatlas.registry.options import option
from fedatlas.results.claims.base import AlgorithmCheck
from fedatlas.results.claims.evidence import exact_outcome
from fedatlas.results.claims.results import Results
from fedatlas.results.claims.verdicts import Outcome
from fedatlas.results.comparing.reconstruction import create_problem, run_at

if TYPE_CHECKING:
    import pandas as pd

    from fedatlas.theory.fedawe.trajectories import Trajectory

EQUALITIES = ("proposition-1", "matrix-form", "doubly-stochastic", "auxiliary-form", "proposition-4", "duration")


@dataclass(frozen=True, kw_only=True)
class Statement(AlgorithmCheck):
    """Held if a statement of the FedAWE paper is true of the runs, in every setting of ``where``: equalities to a
    relative ``tolerance``, bounds without any.

    The engine simulates the runs again, with the states of all clients in every round. Expectations are exact, or means
    over seeds plus their standard error times Student's t at ``level``, with Bonferroni's correction for the settings.
    """

    name = "statement"

    statement: Literal[
        "proposition-1",
        "matrix-form",
        "doubly-stochastic",
        "auxiliary-form",
        "proposition-4",
        "lemma-1",
        "lemma-2-mean",
        "lemma-2-square",
        "duration",
        "lemma-4",
        "lemma-3",
        "lemma-5",
        "proposition-3",
        "proposition-2",
        "lemma-6",
        "theorem-1",
        "corollary-2",
        "corollary-3",
    ] = option(doc="name of the statement, in `fedatlas.theory.fedawe`")
    level: float = option(0.01, doc="significance level of all settings together", above=0, high=1)
    tolerance: float = option(1e-12, doc="largest relative difference of an equality", above=0)

    def paper_text(self, results: Results) -> str:
        bounds = self.statement not in EQUALITIES and self.paper is None
        return "at most 1" if bounds else super().paper_text(results)

    @property
    def inputs(self) -> frozenset[str]:
        return frozenset({"runs"})

    def fits(self, runs: Iterable[tuple[str, Run]]) -> None:
        from fedatlas.theory.fedawe import trajectories

        for _, run in runs:
            if run.tune:
                raise UserError(f"theory: {run.algorithm} is tuned; give one value to each hyper-parameter")
            algorithm, setting = create(run)
            trajectories.validate(algorithm, run.problem["kind"] == "quadratic", setting)

    def judge(self, results: Results) -> Outcome:
        from fedatlas.theory.fedawe import STATEMENTS
        from fedatlas.theory.fedawe.trajectories import Ensemble

        rows, comparisons = results.rows(self.algorithm, self.where, results.curves), []
        settings = list(results.settings(rows))
        for point, part in settings:
            ensemble = Ensemble(list(_simulate(results.view, self.algorithm, part)), self.level / len(settings))
            measured, limit = STATEMENTS[self.statement](ensemble)
            share = measured / (self.tolerance if limit is None else limit)
            comparisons.append((share if math.isfinite(share) else math.inf, measured, limit, results.label(point)))
        share, measured, limit, label = max(comparisons, key=lambda comparison: comparison[0])
        text = f"largest relative difference {labels.number(measured)}"
        if limit is not None:
            text = f"at most {labels.number(share)} of the bound"
        seeds, worst = rows["seed"].nunique(), f"; the worst is {label}" if label else ""
        return exact_outcome(
            text, share <= 1, f"Over {len(comparisons)} settings{worst}.", seeds, measured if limit is None else share
        )


def _simulate(view: ExperimentView, id: str, rows: "pd.DataFrame") -> "Iterator[Trajectory]":
    """Yield the runs of an algorithm in one setting, simulated again, from rows of the curves."""
    run = run_at(view, id, rows)
    parts = {"parameters": run.parameters, "problem": run.problem, "setting": run.setting}
    text = json.dumps(parts, sort_keys=True)
    for seed in sorted(rows["seed"].unique().tolist()):
        yield _simulate_cached(run.algorithm, text, seed)


@functools.lru_cache(maxsize=512)
def _simulate_cached(name: str, text: str, seed: int) -> "Trajectory":
    from fedatlas.theory.fedawe.trajectories import simulate

    run = Run(name, seed=seed, within={}, tune={}, **json.loads(text))
    problem = create_problem(run.problem, run.setting["clients"])
    algorithm, setting = create(run, problem)
    return simulate(algorithm.with_constants(problem), problem, setting, seed)  # type: ignore[arg-type]
