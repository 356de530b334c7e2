"""The arrays of a problem's instance, for runs in another framework."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from fedatlas.errors import UserError, did_you_mean
from fedatlas.experiments.cells import CASE, CellSpec
from fedatlas.experiments.runs import create_run, create_setting, initial_searches
from fedatlas.federation.partitions.partition import Partition
from fedatlas.federation.problems import Problem
from fedatlas.federation.problems.base import evaluation_rows
from fedatlas.federation.problems.client_weights import row_weights
from fedatlas.federation.problems.logistic import Logistic
from fedatlas.federation.problems.quadratic import Quadratic
from fedatlas.federation.problems.similar import SimilarQuadratic
from fedatlas.federation.problems.softmax import Softmax
from fedatlas.workflow.launch import check_experiment
from fedatlas.workflow.origins import Origins
from fedatlas.workflow.study import Study
from fedatlas.workflow.verification import build_problem

LARGEST = 2**30  # bytes of an array
SETTING = ("clients", "local_steps", "rounds", "batch")  # numbers of the setting that stand beside the arrays


def instance_arrays(study: Study, size: str, address: str, seed: int) -> dict[str, Any]:
    """Return the arrays of the instance that runs of a seed have on a case of an experiment.

    Args:
        study: The study.
        size: Size of the experiment.
        address: Experiment and case, as ``landscape/reference``; an experiment without cases has no second part.
        seed: Seed of the runs.

    Raises:
        UserError: There is no such case, or the arrays of such problems cannot be written.
    """
    name, _, case = address.partition("/")
    check_experiment(study, name)
    spec = _specification(study, size, name, case)
    problem = build_problem(study, Origins(study), spec, seed)
    setting = create_setting(create_run(spec, initial_searches(spec)[0].within, {}, seed))
    optimum = problem.optimum if problem.optimum is not None else problem.solve() if problem.solvable else None
    start = problem.start(seed)
    return {
        "kind": spec.problem["kind"],
        **_parts(problem, spec.problem),
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


def _parts(problem: Problem, spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arrays of a problem's objective.

    Args:
        problem: The problem.
        spec: Its specification.

    Raises:
        UserError: It has no such arrays, or they are too large.
    """
    match problem:
        case Quadratic():
            noise = {} if problem.noise is None else {"noise": problem.noise}
            return {"A": problem.A, "b": problem.b, "c": problem.c, **noise}
        case SimilarQuadratic():
            return _similar_parts(problem)
        case Logistic() | Softmax():
            rows = problem.A.toarray() if hasattr(problem.A, "toarray") else problem.A
            labels = problem.b if isinstance(problem, Logistic) else problem.y
            parts = {"A": np.asarray(rows), "y": np.asarray(labels), "l2": problem.l2}
            return parts | _row_parts(problem.partition, problem.row_weights, len(labels))
    if spec["kind"] == "network":
        return _network_parts(problem, spec)
    raise UserError(f"a problem of the kind {spec['kind']} is not one of arrays: its file says how it is computed")


def _similar_parts(problem: SimilarQuadratic) -> dict[str, Any]:
    """Return the matrices A_ij, which the problem itself never builds, and the vectors A_ij b_ij."""
    size = 8 * problem.e.size * problem.dim
    if size > LARGEST:
        raise UserError(
            f"the matrices of {problem.clients} clients with {problem.samples} components each of dimension "
            f"{problem.dim} would take {size / 2**30:.1f} GiB; at most {LARGEST / 2**30:.0f} GiB are written"
        )
    scaled = (problem.spectrum - problem.mu) * problem.e
    within = np.einsum("dk,nmk,ek->nmde", problem.V, scaled, problem.V, optimize=True)
    return {
        "A": problem.hessians()[:, None] + within,
        "b": problem.Ab,
        "c": problem.constants_of_components,
        "beta": problem.beta,
    }


def _network_parts(problem: Any, spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return rows as the network is given them, and its parameters in the order in which the start holds them.

    Raises:
        UserError: The start holds more than parameters.
    """
    from fedatlas.federation.networks.replica import trained_parameters

    names = [name for name, parameter in problem.module.named_parameters() if parameter.requires_grad]
    if problem.statistics:
        raise UserError("the start of this network holds statistics of batch norm, which other frameworks keep apart")
    inputs, labels = problem.train.gather(problem.train.index(np.arange(problem.samples)))
    weights = row_weights(problem.weights, problem.samples, problem.partition)
    evaluated = evaluation_rows(problem.samples, problem.eval_samples, weights)
    return {
        "A": inputs.cpu().numpy(),
        "y": labels.cpu().numpy(),
        "l2": problem.l2,
        **_row_parts(problem.partition, weights, problem.samples),
        **({} if evaluated is None else {"evaluated": evaluated}),
        "loss": spec.get("loss", "cross-entropy"),
        "architecture": json.dumps(spec.get("architecture")),
        "module": str(problem.module),
        "parameters": names,
        "shapes": [json.dumps(list(parameter.shape)) for parameter in trained_parameters(problem.module)],
    }


def _row_parts(partition: Partition | None, weights: np.ndarray | None, rows: int) -> dict[str, Any]:
    """Return weights and clients of the rows of data, where they have some."""
    parts: dict[str, Any] = {} if weights is None else {"weight": weights}
    if partition is not None:
        parts["client"] = np.full(rows, -1)
        for i in range(partition.clients):
            parts["client"][partition.client(i)] = i
    return parts
