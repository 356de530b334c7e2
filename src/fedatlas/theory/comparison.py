"""Comparison of an experiment's runs with the bounds of theorems, for checks and figures."""

import copy
import functools
import json
from collections.abc import Hashable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fedatlas.errors import UserError
from fedatlas.experiments import axis_values
from fedatlas.experiments.axis_values import parse
from fedatlas.experiments.cells import Run
from fedatlas.experiments.experiment_view import ExperimentView
from fedatlas.experiments.formulas import evaluate
from fedatlas.experiments.runs import SETTING, assign, create, create_setting
from fedatlas.federation import problems
from fedatlas.federation.algorithms.base import Algorithm
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.problems.base import Problem
from fedatlas.theory import NotCovered
from fedatlas.theory.run_bound import RunBound

if TYPE_CHECKING:
    import pandas as pd

RESOLUTION = 1e-16  # of double precision, relative to the first bound


class RunComparison(NamedTuple):
    """A run and a theorem's bound: arrays over the run's evaluations, not a number for rounds that it did not reach.

    seed: of the run. counted: iterations or rounds. measured: the quantity that the theorem bounds, or where it bounds
    an expectation, what the expectation is of. bound: its bound.
    """

    seed: int
    counted: np.ndarray
    measured: np.ndarray
    bound: np.ndarray


def compare_runs(bound: RunBound[Any], view: ExperimentView, id: str, rows: "pd.DataFrame") -> Iterator[RunComparison]:
    """Compare the runs of an algorithm in one setting with a theorem, one after another.

    Args:
        bound: The theorem.
        view: ExperimentView of the experiment.
        id: The algorithm's id in the experiment.
        rows: The evaluations of the runs, of the curves.

    Raises:
        UserError: If the theorem is not about the runs, or the problem's constants are not known exactly.
    """
    algorithm, problem, conditions = build(view, id, rows)
    count = rows.groupby("seed").size().max() - 1 + (rows["round"].max() < conditions.total_rounds)
    for seed, curve in rows.groupby("seed"):
        arrays = compare(bound, algorithm, problem, curve)
        missing = np.full(count - len(arrays[0]), np.nan)  # of a run that diverged or was cut off
        yield RunComparison(seed, *(np.concatenate([part, missing]) for part in arrays))


def build(view: ExperimentView, id: str, rows: "pd.DataFrame") -> tuple[Algorithm, Problem, Setting]:
    """Return algorithm, problem and setting of the runs of an algorithm at one point of the axes and tuned values.

    Args:
        view: ExperimentView of the experiment.
        id: The algorithm's id in the experiment.
        rows: The evaluations of the runs, of the curves.

    Raises:
        UserError: If the problem is on data, so that its constants are not known exactly.
    """
    entry, first = view.algorithms[id], rows.head(1).to_dict("records")[0]
    tuned = {axis: _listed_value(values, first[axis]) for axis, values in entry.tune.items()}
    setting = view.setting | entry.setting | {axis: value for axis, value in tuned.items() if axis in SETTING}
    parameters = entry.set | {axis: value for axis, value in tuned.items() if axis not in SETTING}
    parts = parts_at(view, first, setting, parameters)
    if "data" in parts["problem"]:
        raise UserError("theorems are compared with runs on synthetic quadratics, whose constants are exact")
    problem = _problem(json.dumps(parts["problem"], sort_keys=True), parts["setting"]["clients"])
    algorithm, conditions = create(Run(entry.algorithm, seed=0, within={}, tune=tuned, **parts), problem)
    return algorithm.with_constants(problem), problem, conditions


def validate_run(bound: RunBound[Any], run: Run) -> None:
    """Raise UserError if a theorem is not about the problem, algorithm or setting of a run."""
    kind = problems.get(run.problem["kind"])
    if kind.on_data or not {"mu_min", "L_max", "delta_A", "delta_B"} <= set(kind.constants):
        raise UserError("theorems are compared with runs on synthetic quadratics, whose constants are exact")
    if run.algorithm not in bound.algorithms:
        raise UserError(f"{bound.title} is about {' and '.join(bound.algorithms)}, not {run.algorithm}")
    bound.validate(kind, setting := create_setting(run))
    if bound.every_round and not setting.evaluates_every_round:
        raise UserError(f"{bound.title} speaks of every round: set eval_rounds to 1")
    require_over_rounds(bound.title, bound.over_rounds, setting)


def require_over_rounds(title: str, metric: str, setting: Setting) -> None:
    """Raise UserError if a setting lacks the metric over rounds that a theorem is measured by, if it is by one.

    Args:
        title: The paper's name of the theorem.
        metric: Name of the metric, or nothing.
        setting: The setting of the runs.
    """
    if metric and metric not in setting.round_metrics:
        raise UserError(f"{title} speaks of every round: add {metric} to metrics of the setting")


def compare(
    bound: RunBound[Any], algorithm: Algorithm, problem: Problem, curve: "pd.DataFrame"
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return ``counted``, ``measured`` and ``bound`` of `RunComparison` for one run.

    Args:
        bound: The theorem.
        algorithm: The run's algorithm with its hyper-parameters.
        problem: The run's problem.
        curve: The run's evaluations from round 0, with ``round``, ``steps`` and metrics.

    Returns:
        Arrays over the evaluations after round 0.

    Raises:
        NotCovered: If a condition of the theorem on constants and hyper-parameters does not hold.
        UserError: If the theorem is not about the run.
    """
    curve = curve.sort_values("round")
    if bound.every_round and (curve["round"].iloc[0] != 0 or not (curve["round"].diff().iloc[1:] == 1).all()):
        raise UserError(f"{bound.title} speaks of every round: set eval_rounds to 1")
    if bound.over_rounds and bound.over_rounds not in curve:
        raise UserError(f"{bound.title} speaks of every round: add {bound.over_rounds} to metrics of the setting")
    c = bound.constants(problem, curve)
    if algorithm.name not in bound.algorithms:
        raise UserError(f"{bound.title} is about {' and '.join(bound.algorithms)}, not {algorithm.name}")
    rounds = int(curve["round"].iloc[-1])
    if (condition := bound.needs(c) or bound.fails(c, algorithm, rounds)) is not None:
        raise NotCovered(f"{bound.title} needs {condition} for {algorithm.name}")
    counted = curve[bound.counts].to_numpy(float)[1:]
    return counted, bound.measured(c, curve)[1:], bound.bound(c, algorithm, counted)


def validate_quantity(formula: str, run: Run) -> None:
    """Raise UserError if a formula of constants has no value for the problem of a run."""
    if problems.get(run.problem["kind"]).on_data:
        raise UserError("against: the constants of a problem on data are not known exactly; use a synthetic problem")
    evaluate(formula, "against", _problem(json.dumps(run.problem, sort_keys=True), create_setting(run).clients))


def quantity(view: ExperimentView, rows: "pd.DataFrame", formula: str) -> float:
    """Return the value of a formula of the problem's constants at the point of the axes that all rows share."""
    first = rows.head(1).to_dict("records")[0]
    parts = parts_at(view, first, view.setting, {})
    problem = _problem(json.dumps(parts["problem"], sort_keys=True), parts["setting"]["clients"])
    return evaluate(formula, "against", problem)


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


def parts_at(
    view: ExperimentView, row: Mapping[Hashable, Any], setting: Mapping[str, Any], parameters: Mapping[str, Any]
) -> dict[str, Any]:
    """Return ``problem``, ``setting`` and ``parameters`` of the runs at the point of the axes where a row lies.

    Args:
        view: ExperimentView of the experiment.
        row: Values by column.
        setting: Setting that the values of the axes override.
        parameters: Hyper-parameters that the values of the axes override.
    """
    parts = copy.deepcopy({"problem": view.problem, "setting": dict(setting), "parameters": dict(parameters)})
    for axis in view.axes:
        assign(parts, axis, parse(row[axis]))
    return parts


def _listed_value(values: list[Any], field: Any) -> Any:
    """Return the value of a table's field as the specification lists it: a float column holds 10 as 10.0."""
    return next(value for value in values if axis_values.equal(value, parse(field)))


@functools.lru_cache(maxsize=32)
def _problem(spec: str, clients: int) -> Problem:
    return problems.create(json.loads(spec), clients)
