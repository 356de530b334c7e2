"""Theorems and the runs of an experiment, rebuilt from rows of their results: algorithm, problem and setting."""

import copy
import functools
import json
from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fedatlas.errors import UserError
from fedatlas.experiments.cells import Run
from fedatlas.experiments.runs import SETTING, assign, create, create_setting
from fedatlas.experiments.values import are_equal, evaluate_formula, parse_cell
from fedatlas.experiments.view import ExperimentView
from fedatlas.federation import problems
from fedatlas.federation.algorithms import Algorithm
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.problems import PROBLEMS
from fedatlas.federation.problems.base import Problem
from fedatlas.theory.fedac import FEDAC_THEOREMS
from fedatlas.theory.theorem import Comparison, RunTheorem

if TYPE_CHECKING:
    import pandas as pd


def validate_run(theorem: RunTheorem[Any], run: Run) -> None:
    """Raise UserError if a theorem is not about the problem, algorithm or setting of a run."""
    theorem.validate(run.problem, run.algorithm, create_setting(run))


def compare_runs(
    theorem: RunTheorem[Any], view: ExperimentView, id: str, rows: "pd.DataFrame"
) -> dict[int, Comparison]:
    """Compare the runs of an algorithm in one setting with a theorem, and return the comparisons by seed.

    They are not numbers at evaluations that a run did not reach.

    Args:
        theorem: The theorem.
        view: View of the experiment.
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
    length = max(len(run.counted) for run in runs.values()) + cut_off
    return {
        seed: Comparison(*(np.pad(part, (0, length - len(part)), constant_values=np.nan) for part in run))
        for seed, run in runs.items()
    }


def terms_of_runs(name: str, view: ExperimentView, id: str, rows: "pd.DataFrame") -> dict[str, float]:
    """Return the bound of a theorem on FedAc, term by term. Arguments and errors are those of `compare_runs`."""
    theorem, (algorithm, problem, setting) = FEDAC_THEOREMS[name], rebuild(view, id, rows)
    c = theorem.constants(problem, setting, rows)
    theorem.require(c, algorithm, setting.total_rounds)
    return theorem.terms(c, c.K * setting.total_rounds)


def run_at(view: ExperimentView, id: str, rows: "pd.DataFrame") -> Run:
    """Return the run of seed 0 of an algorithm at one point of the axes and tuned values.

    Args:
        view: View of the experiment.
        id: The algorithm's id in the experiment.
        rows: The evaluations of the runs, of the curves.
    """
    entry, first = view.algorithms[id], rows.head(1).to_dict("records")[0]
    cells = {axis: parse_cell(first[axis]) for axis in entry.tune}  # a float column holds 10 as 10.0
    tuned = {
        axis: next(value for value in values if are_equal(value, cells[axis])) for axis, values in entry.tune.items()
    }
    setting = view.setting | entry.setting | {axis: value for axis, value in tuned.items() if axis in SETTING}
    parameters = entry.set | {axis: value for axis, value in tuned.items() if axis not in SETTING}
    return Run(entry.algorithm, seed=0, within={}, tune=tuned, **parts_at(view, first, setting, parameters))


def rebuild(view: ExperimentView, id: str, rows: "pd.DataFrame") -> tuple[Algorithm, Problem, Setting]:
    """Return algorithm, problem and setting of runs. Arguments are those of `run_at`.

    Raises:
        UserError: If the problem is on data, so that its constants are not known exactly.
    """
    run = run_at(view, id, rows)
    if "data" in run.problem:
        raise UserError("theorems are compared with runs on synthetic quadratics, whose constants are exact")
    problem = create_problem(run.problem, run.setting["clients"])
    algorithm, setting = create(run, problem)
    return algorithm.with_constants(problem), problem, setting


def validate_quantity(formula: str, run: Run) -> None:
    """Raise UserError if a formula of constants has no value for the problem of a run."""
    if PROBLEMS.get(run.problem["kind"]).on_data:
        raise UserError("against: the constants of a problem on data are not known exactly; use a synthetic problem")
    evaluate_formula(formula, "against", create_problem(run.problem, create_setting(run).clients))


def quantity(view: ExperimentView, point: Mapping[Hashable, Any], formula: str) -> float:
    """Return the value of a formula of the problem's constants at a point of the axes."""
    parts = parts_at(view, point, view.setting, {})
    return evaluate_formula(formula, "against", create_problem(parts["problem"], parts["setting"]["clients"]))


def parts_at(
    view: ExperimentView, row: Mapping[Hashable, Any], setting: Mapping[str, Any], parameters: Mapping[str, Any]
) -> dict[str, Any]:
    """Return ``problem``, ``setting`` and ``parameters`` of the runs at the point of the axes where a row lies.

    Args:
        view: View of the experiment.
        row: Values by column.
        setting: Setting that the values of the axes override.
        parameters: Hyper-parameters that the values of the axes override.
    """
    parts = copy.deepcopy({"problem": view.problem, "setting": dict(setting), "parameters": dict(parameters)})
    assign(parts, {axis: parse_cell(row[axis]) for axis in view.axes})
    return parts


def create_problem(spec: Mapping[str, Any], clients: int) -> Problem:
    """Return the problem of a specification, the same object for the same one."""
    return _problem(json.dumps(spec, sort_keys=True), clients)


@functools.lru_cache(maxsize=32)
def _problem(spec: str, clients: int) -> Problem:
    return problems.create(json.loads(spec), clients)
