"""Runs compared with the theorems of Yuan & Ma (2020), each with the step size of its theorem."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from fedatlas.errors import UserError
from fedatlas.experiments.cells import Run
from fedatlas.experiments.experiment_view import ExperimentView
from fedatlas.experiments.runs import create_setting
from fedatlas.federation.problems.base import Problem
from fedatlas.federation.problems.quadratic import Quadratic, SyntheticQuadratic
from fedatlas.theory import NotCovered
from fedatlas.theory.comparison import RunComparison, build
from fedatlas.theory.fedac import FEDAC_THEOREMS
from fedatlas.theory.fedac.theorem import FedAcConstants, FedAcTheorem

if TYPE_CHECKING:
    import pandas as pd

COMPARED = ("B.1", "C.13", "C.1", "D.1")  # the theorems whose step size and constants a quadratic has
COVERED = (SyntheticQuadratic.name, "coin")  # kinds of problems whose constants are exact
AVERAGED = "fedavg-averaged"  # FedAvg with the output of Theorem D.1
TOLERANCE = 1e-5  # relative, of a step size that is written with six digits


@runtime_checkable
class KnownNoise(Protocol):
    """A problem whose stochastic gradients have the same central moments at every point, such as a coin.

    Attributes:
        noise_moments: The second and the fourth moment.
        hessian_lipschitz: Lipschitz constant of the Hessian.
        smoothness: L.
        l2: mu.
    """

    noise_moments: tuple[float, float]
    hessian_lipschitz: float
    smoothness: float
    l2: float


def validate_run(name: str, run: Run) -> None:
    """Raise UserError if a theorem of Appendices B to D is not about a run, or constants are not known."""
    theorem, setting = FEDAC_THEOREMS[name], create_setting(run)
    if run.algorithm != _algorithm(theorem):
        raise UserError(f"theorem {name} is about {_algorithm(theorem)}, not {run.algorithm}")
    if run.problem["kind"] not in COVERED:
        raise UserError("the theorems of FedAc are compared with runs on problems of kind quadratic or coin")
    if run.problem.get("start_scale") != 0:
        raise UserError(f"the step size of theorem {name} depends on the start: set start_scale to 0")
    if setting.batch != 1 or setting.local_steps is None:
        raise UserError("the theorems of FedAc are about rounds of local_steps, each with one sample")
    if not (setting.full_participation and setting.constant_lr) or setting.clip is not None:
        raise UserError("the theorems of FedAc are about full participation, a constant step size and no clip")


def compare_runs(name: str, view: ExperimentView, id: str, rows: "pd.DataFrame") -> Iterator[RunComparison]:
    """Compare the last errors of an algorithm's runs in one setting with a theorem's bound on their expectation.

    The error of a run that diverged is infinite. Arguments and errors are those of `terms_of_runs`.
    """
    bound = np.array([sum(terms_of_runs(name, view, id, rows).values())])
    last = build(view, id, rows)[2].total_rounds
    errors = rows[rows["round"] == last].set_index("seed")["suboptimality"]
    for seed in sorted(rows["seed"].unique()):
        yield RunComparison(seed, np.array([last]), np.array([errors.get(seed, np.inf)]), bound)


def terms_of_runs(name: str, view: ExperimentView, id: str, rows: "pd.DataFrame") -> dict[str, float]:
    """Return a theorem's bound for the runs of an algorithm in one setting, term by term.

    Args:
        name: The theorem's name, one of COMPARED.
        view: ExperimentView of the experiment.
        id: The algorithm's id in the experiment.
        rows: The evaluations of the runs, of the curves.

    Raises:
        NotCovered: If the runs have another step size or mu than the theorem, or it does not apply.
        UserError: If the problem's constants are not known.
    """
    theorem = FEDAC_THEOREMS[name]
    algorithm, problem, setting = build(view, id, rows)
    K = setting.local_steps or 1
    c, where = exact_constants(problem, problem.start(0)), (setting.clients, K, setting.total_rounds * K)
    if not theorem.applies(c, *where):
        raise NotCovered(f"theorem {name} needs {theorem.assumptions} and T >= {theorem.least_steps}")
    if getattr(algorithm, "beta", "printed") != "printed":
        raise NotCovered(f"theorem {name} needs beta = printed for {view.algorithms[id].name}")
    parameters = theorem.parameters(c, *where) | ({"mu": c.mu, "server_lr": 1.0} if theorem.averaged else {})
    for option, value in parameters.items():
        if not abs(getattr(algorithm, option) - value) <= TOLERANCE * value:
            raise NotCovered(f"theorem {name} needs {option} = {value:.6g} for {view.algorithms[id].name}")
    return theorem.terms(c, *where)


def exact_constants(problem: Problem, x0: np.ndarray) -> FedAcConstants:
    """Return constants of quadratics or of a coin, which are alike for all clients, for batches of one sample.

    All are exact. The noise of a quadratic's gradient is a row of a table, whatever the point, and its Hessian is
    constant. The Hessian of a coin's loss changes.

    Args:
        problem: The problem, with a known optimum.
        x0: The start, (d,).

    Raises:
        UserError: The clients differ, or there is no optimum.
    """
    if isinstance(problem, KnownNoise):
        (second, fourth), Q, L, mu = problem.noise_moments, problem.hessian_lipschitz, problem.smoothness, problem.l2
    else:
        assert isinstance(problem, Quadratic)
        if not all((part == part[0]).all() for part in (problem.A, problem.b)):
            raise UserError("theory: FedAc's theorems are about quadratics whose clients are alike")
        squares = np.zeros(1) if problem.noise is None else np.vecdot(problem.noise, problem.noise)
        second, fourth, Q = float(squares.mean()), float((squares**2).mean()), 0.0
        L, mu = (problem.constants()[name] for name in ("L", "mu"))
    if problem.optimum is None:
        raise UserError("theory: FedAc's theorems are about strongly convex objectives")
    D0, gap = float(np.linalg.norm(x0 - problem.optimum.x)), problem.value(x0) - problem.optimum.F
    return FedAcConstants(L, mu, second**0.5, fourth**0.25, Q, D0, gap)


def _algorithm(theorem: FedAcTheorem) -> str:
    """Return the name of the algorithm whose output a theorem bounds."""
    return AVERAGED if theorem.averaged else theorem.algorithm
