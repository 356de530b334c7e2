"""Comparison of an experiment's runs with the bounds of theorems, for checks and figures."""

import copy
import functools
import json
from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fedatlas.errors import UserError
from fedatlas.experiments import axis_values
from fedatlas.experiments.axis_values import parse
from fedatlas.experiments.cells import Run
from fedatlas.experiments.experiment_view import ExperimentView
from fedatlas.experiments.formulas import evaluate
from fedatlas.experiments.runs import SETTING, assign, create, create_setting
from fedatlas.experiments.scores import LONG
from fedatlas.experiments.thinning import are_ends
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
    """A run and a theorem's bound: arrays over the run's rounds, not a number for rounds that it did not reach.

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
    rounds = rows["round"][rows["round"] > 0].unique()
    count = len(rounds) + (rounds.max(initial=0) < conditions.total_rounds)
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
    if setting.eval_every != 1:
        raise UserError(f"{bound.title} speaks of every round: set eval_rounds to 1")


def compare(
    bound: RunBound[Any], algorithm: Algorithm, problem: Problem, curve: "pd.DataFrame"
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return ``counted``, ``measured`` and ``bound`` of `RunComparison` for one run.

    Args:
        bound: The theorem.
        algorithm: The run's algorithm with its hyper-parameters.
        problem: The run's problem.
        curve: The run's evaluations of all rounds from 0, with ``round``, ``steps`` and metrics.

    Returns:
        Arrays over the evaluations after round 0.

    Raises:
        NotCovered: If a condition of the theorem on constants and hyper-parameters does not hold.
        UserError: If the theorem is not about the run.
    """
    curve = curve.sort_values("round")
    first = curve.iloc[0]
    whole = not are_ends(curve).any()
    if whole and (first["round"] != 0 or not (curve["round"].diff().iloc[1:] == 1).all()):
        raise UserError(f"{bound.title} speaks of every round: set eval_rounds to 1")
    c = bound.constants(problem, curve)
    if algorithm.name not in bound.algorithms:
        raise UserError(f"{bound.title} is about {' and '.join(bound.algorithms)}, not {algorithm.name}")
    rounds = int(curve["round"].iloc[-1])
    if (condition := bound.needs(c) or bound.fails(c, algorithm, rounds)) is not None:
        raise NotCovered(f"{bound.title} needs {condition} for {algorithm.name}")
    counted = curve[bound.counts].to_numpy(float)[1:]
    quantity = measured(curve, measured_column(bound.name), lambda curve: bound.measured(c, curve))
    return counted, quantity[1:], bound.bound(c, algorithm, counted)


def measured_column(name: int | str) -> str:
    """Return the column in which a record keeps what a theorem bounds, of long runs."""
    return f"{LONG}measured of theorem {name}"


def measured(curve: "pd.DataFrame", column: str, compute: "Callable[[pd.DataFrame], np.ndarray]") -> np.ndarray:
    """Return what a theorem bounds at each evaluation of a run.

    Args:
        curve: The evaluations of the run, in order.
        column: Column in which a record keeps it.
        compute: Computes it from all evaluations.

    Raises:
        NotCovered: If a record keeps some evaluations alone, and not the quantity.
    """
    if not are_ends(curve).any():
        return compute(curve)
    if column not in curve or curve[column].isna().all():
        raise NotCovered("the record keeps some evaluations alone, and not what the theorem bounds")
    return curve[column].to_numpy(float)


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
