"""Runs of an experiment against the bounds of theorems: what checks and figures share."""

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
from fedatlas.federation.problems.base import Problem
from fedatlas.theory.bound import Bound
from fedatlas.theory.compared import theorem
from fedatlas.theory.conditions import NotCovered

if TYPE_CHECKING:
    import pandas as pd

RESOLUTION = 1e-16  # of double precision, relative to the first bound


class Comparison(NamedTuple):
    """A run against a theorem: arrays over its rounds, not a number for rounds that it did not make.

    seed: of the run. counted: iterations or rounds. measured: what the theorem bounds. bound: the bound.
    """

    seed: int
    counted: np.ndarray
    measured: np.ndarray
    bound: np.ndarray


def runs(view: ExperimentView, name: int | str, id: str, rows: "pd.DataFrame") -> Iterator[Comparison]:
    """Every run of an algorithm in one setting, against a theorem.

    name: the theorem's number. id: of the algorithm in the experiment. rows: of the curves. Raises UserError if the
    theorem is not about the runs, or the problem's constants are not known exactly.
    """
    shown, first = view.algorithms[id], rows.head(1).to_dict("records")[0]
    tuned = {axis: _listed(values, first[axis]) for axis, values in shown.tune.items()}
    setting = view.setting | shown.setting | {axis: value for axis, value in tuned.items() if axis in SETTING}
    parameters = shown.set | {axis: value for axis, value in tuned.items() if axis not in SETTING}
    parts = parts_at(view, first, setting, parameters)
    if "data" in parts["problem"]:
        raise UserError("theorems are compared with runs on synthetic quadratics, whose constants are exact")
    problem = _problem(json.dumps(parts["problem"], sort_keys=True), parts["setting"]["clients"])
    algorithm, conditions = create(Run(shown.algorithm, seed=0, within={}, tune=tuned, **parts), problem)
    for seed, curve in rows.groupby("seed"):
        compared = compare(theorem(name), algorithm.with_constants(problem), problem, curve)
        missing = np.full(conditions.total_rounds - len(compared[0]), np.nan)  # of a run that diverged or was cut off
        yield Comparison(seed, *(np.concatenate([part, missing]) for part in compared))


def check(name: int | str, run: Run) -> None:
    """Raise UserError if a theorem is not about the problem, algorithm or setting of a run."""
    bound, kind = theorem(name), problems.get(run.problem["kind"])
    if kind.on_data or not {"mu_min", "L_max", "delta_A", "delta_B"} <= set(kind.constants):
        raise UserError("theorems are compared with runs on synthetic quadratics, whose constants are exact")
    if run.algorithm not in bound.algorithms:
        raise UserError(f"{bound.title} is about {' and '.join(bound.algorithms)}, not {run.algorithm}")
    bound.check(kind, setting := create_setting(run))
    if setting.eval_every != 1:
        raise UserError(f"{bound.title} speaks of every round: set eval_rounds to 1")


def compare(
    bound: Bound, algorithm: Algorithm, problem: Problem, curve: "pd.DataFrame"
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Counted, measured and bound of one run, as in `Comparison`: arrays over its evaluations after round 0.

    curve: the run's rows with ``round``, ``steps`` and metrics, from round 0. Raises UserError if the theorem is not
    about the run, as NotCovered where a condition on constants and hyper-parameters does not hold.
    """
    curve = curve.sort_values("round")
    first = curve.iloc[0]
    if first["round"] != 0 or not (curve["round"].diff().iloc[1:] == 1).all():
        raise UserError(f"{bound.title} speaks of every round: set eval_rounds to 1")
    c = bound.constants(problem, curve)
    if algorithm.name not in bound.algorithms:
        raise UserError(f"{bound.title} is about {' and '.join(bound.algorithms)}, not {algorithm.name}")
    rounds = int(curve["round"].iloc[-1])
    if (condition := bound.needs(c) or bound.fails(c, algorithm, rounds)) is not None:
        raise NotCovered(f"{bound.title} needs {condition} for {algorithm.name}")
    counted = curve[bound.counts].to_numpy(float)[1:]
    return counted, bound.measured(c, curve)[1:], bound.bound(c, algorithm, counted)


def check_quantity(formula: str, run: Run) -> None:
    """Raise UserError if a formula of constants has no value for the problem of a run."""
    if problems.get(run.problem["kind"]).on_data:
        raise UserError("against: the constants of a problem on data are not known exactly; use a synthetic problem")
    evaluate(formula, "against", _problem(json.dumps(run.problem, sort_keys=True), create_setting(run).clients))


def quantity(view: ExperimentView, rows: "pd.DataFrame", formula: str) -> float:
    """The value of a formula of the problem's constants, at the point of the axes where all rows lie."""
    first = rows.head(1).to_dict("records")[0]
    parts = parts_at(view, first, view.setting, {})
    problem = _problem(json.dumps(parts["problem"], sort_keys=True), parts["setting"]["clients"])
    return evaluate(formula, "against", problem)


def worst(measured: np.ndarray, bound: np.ndarray) -> float:
    """Largest measured / bound; infinite if there is no round, or a round's value is missing or not finite.

    What double precision does not resolve beside the first bound counts as 0.
    """
    if not len(measured) or not np.isfinite(measured).all():
        return np.inf
    resolved = np.maximum(measured - RESOLUTION * bound[0], 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.max(np.where(resolved > 0, resolved / bound, 0)))


def parts_at(
    view: ExperimentView, row: Mapping[Hashable, Any], setting: Mapping[str, Any], parameters: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    """``problem``, ``setting`` and ``parameters`` of the runs at the point of the axes where a row lies.

    row: values by column. setting, parameters: what the values of the axes are laid over.
    """
    parts = copy.deepcopy({"problem": view.problem, "setting": dict(setting), "parameters": dict(parameters)})
    for axis in view.axes:
        assign(parts, axis, parse(row[axis]))
    return parts


def _listed(values: list[Any], cell: Any) -> Any:
    """The value of a cell as the specification lists it: a column of double precision holds 10 as 10.0."""
    return next(value for value in values if axis_values.equal(value, parse(cell)))


@functools.lru_cache(maxsize=32)
def _problem(spec: str, clients: int) -> Problem:
    return problems.create(json.loads(spec), clients)
