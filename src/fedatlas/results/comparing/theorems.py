"""Theorems and the runs of an experiment: what `fedatlas.theory` says of them."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fedatlas.experiments.cells import Run
from fedatlas.experiments.experiment_view import ExperimentView
from fedatlas.experiments.runs import create_setting
from fedatlas.results.comparing.reconstruction import rebuild, run_at
from fedatlas.theory.fedac import FEDAC_THEOREMS
from fedatlas.theory.theorem import RunTheorem

if TYPE_CHECKING:
    import pandas as pd


class RunComparison(NamedTuple):
    """The arrays of `Comparison` for the run of a seed, not a number at evaluations that it did not reach."""

    seed: int
    counted: np.ndarray
    measured: np.ndarray
    bound: np.ndarray


def validate_run(theorem: RunTheorem[Any], run: Run) -> None:
    """Raise UserError if a theorem is not about the problem, algorithm or setting of a run."""
    theorem.validate(run.problem, run.algorithm, create_setting(run))


def compare_runs(theorem: RunTheorem[Any], view: ExperimentView, id: str, rows: "pd.DataFrame") -> list[RunComparison]:
    """Compare the runs of an algorithm in one setting with a theorem, one after another.

    Args:
        theorem: The theorem.
        view: ExperimentView of the experiment.
        id: The algorithm's id in the experiment.
        rows: The evaluations of the runs, of the curves.

    Raises:
        NotCovered: If a condition of the theorem on constants and hyper-parameters does not hold.
        UserError: If the theorem is not about the runs, or the problem's constants are not known exactly.
    """
    validate_run(theorem, run_at(view, id, rows))
    algorithm, problem, setting = rebuild(view, id, rows)
    runs = {seed: theorem.compare(algorithm, problem, setting, curve) for seed, curve in rows.groupby("seed")}
    cut_off = rows["round"].max() < setting.total_rounds  # all of them
    length = max(len(arrays.counted) for arrays in runs.values()) + cut_off
    return [
        RunComparison(seed, *(np.pad(part, (0, length - len(part)), constant_values=np.nan) for part in arrays))
        for seed, arrays in runs.items()
    ]


def terms_of_runs(name: str, view: ExperimentView, id: str, rows: "pd.DataFrame") -> dict[str, float]:
    """Return the bound of a theorem on FedAc, term by term. Arguments and errors are those of `compare_runs`."""
    theorem, (algorithm, problem, setting) = FEDAC_THEOREMS[name], rebuild(view, id, rows)
    c = theorem.constants(problem, setting, rows)
    theorem.require(c, algorithm, setting.total_rounds)
    return theorem.terms(c, c.K * setting.total_rounds)
