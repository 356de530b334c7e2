"""The arrays of a problem's instance, for runs in another framework."""

from typing import Any

import numpy as np

from fedatlas.errors import UserError, did_you_mean
from fedatlas.experiments.cells import CASE, CellSpec
from fedatlas.experiments.runs import create_run, create_setting, initial_searches
from fedatlas.federation.problems import Problem
from fedatlas.federation.problems.logistic import Logistic
from fedatlas.federation.problems.quadratic import Quadratic
from fedatlas.federation.problems.softmax import Softmax
from fedatlas.workflow.launch import check_experiment
from fedatlas.workflow.origins import Origins
from fedatlas.workflow.study import Study
from fedatlas.workflow.verification import build_problem

SETTING = ("clients", "local_steps", "rounds", "batch")  # numbers of the setting that stand beside the arrays


def instance_arrays(study: Study, size: str, place: str, seed: int) -> dict[str, Any]:
    """Return the arrays of the instance that runs of a seed have on a case of an experiment.

    Args:
        study: The study.
        size: Size of the experiment.
        place: Experiment and case, as ``landscape/reference``; an experiment without cases has no second part.
        seed: Seed of the runs.

    Raises:
        UserError: There is no such case, or the arrays of such problems cannot be written.
    """
    name, _, case = place.partition("/")
    check_experiment(study, name)
    spec = _specification(study, size, name, case)
    problem = build_problem(study, Origins(study), spec, seed)
    setting = create_setting(create_run(spec, initial_searches(spec)[0].within, {}, seed))
    optimum = problem.optimum if problem.optimum is not None else problem.solve() if problem.solvable else None
    start = problem.start(seed)
    return {
        "kind": spec.problem["kind"],
        **_parts(problem),
        "start": np.asarray(start, float),
        "start_loss": problem.evaluate(start)["loss"],
        "least_loss": np.nan if optimum is None else optimum.F,
        **{key: value for key in SETTING if (value := getattr(setting, key)) is not None},
    }


def _specification(study: Study, size: str, name: str, case: str) -> CellSpec:
    """Return the specification of the first cell of a case."""
    cells = study.cells(size, name).values()
    cases = list(dict.fromkeys(str(cell.point.get(CASE, "")) for cell in cells))
    if case not in cases:
        if cases == [""]:
            raise UserError(f"{name} has no cases: its problem is {name} alone")
        raise UserError(f"there is no problem {name}/{case}{did_you_mean(case, cases)}")
    return next(cell.spec for cell in cells if str(cell.point.get(CASE, "")) == case)


def _parts(problem: Problem) -> dict[str, Any]:
    """Return the arrays of a problem's objective.

    Raises:
        UserError: The problem is of another kind.
    """
    if isinstance(problem, Quadratic):
        noise = {} if problem.noise is None else {"noise": problem.noise}
        return {"A": problem.A, "b": problem.b, "c": problem.c, **noise}
    if not isinstance(problem, Logistic | Softmax):
        raise UserError("arrays are written of quadratics, logistic and softmax regression alone")
    rows = problem.A.toarray() if hasattr(problem.A, "toarray") else problem.A
    labels = problem.b if isinstance(problem, Logistic) else problem.y
    parts: dict[str, Any] = {"A": np.asarray(rows), "y": np.asarray(labels), "l2": problem.l2}
    if problem.row_weights is not None:
        parts["weight"] = problem.row_weights
    if problem.partition is not None:
        parts["client"] = np.full(len(labels), -1)
        for i in range(problem.partition.clients):
            parts["client"][problem.partition.client(i)] = i
    return parts
