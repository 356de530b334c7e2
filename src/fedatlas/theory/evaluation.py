"""What `fedatlas theory` prints: constants, hyper-parameters and bounds of the papers' theorems for a problem."""

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import expit

from fedatlas.errors import UserError
from fedatlas.federation.algorithms import ALGORITHMS
from fedatlas.federation.problems import interactive
from fedatlas.federation.problems.base import Problem
from fedatlas.federation.problems.logistic import Logistic
from fedatlas.federation.problems.regression import Regression
from fedatlas.theory.dissimilarity import Dissimilarity
from fedatlas.theory.fedac import FEDAC_THEOREMS
from fedatlas.theory.fedac.theorem import FedAcConstants
from fedatlas.theory.fedred import FEDRED_BOUNDS, FedRedConstants
from fedatlas.theory.theorem import Theorem, unmet

THIRD_DERIVATIVE = 1 / (6 * math.sqrt(3))  # max over z of |s''(z)| for the logistic function s


def fedac_constants(problem: Problem) -> FedAcConstants:
    """Return constants of a Logistic problem whose clients share all data, for batches of one sample.

    The start is that of seed 0. Raises UserError on other problems and where there is no optimum.

    sigma and sigma4 hold at every x. With rows a_j and labels b_j a stochastic gradient is X - EX plus the gradient,
    where X = -b_j s_j a_j for some s_j in (0, 1). So E|X - EX|^2 <= m_2, with m_p the mean of |a_j|^p. Its fourth
    moment is at most max|X - EX|^2 E|X - EX|^2 <= 4 max|a|^2 m_2, and, with X' a copy of X, at most E|X - X'|^4 / 2
    <= m_4 + 4 m_1 m_3 + 3 m_2^2. The smaller of the two is taken.

    Q: |D^3 F(x)[u, v, v]| <= mean |s''| |<a_j, u>| <a_j, v>^2 for unit u, v, with |s''| <= 1 / (6 sqrt 3), is at most
    this times m_3 and times max|a| lambda_max(A'A) / n. The smaller of the two is taken.
    """
    if not isinstance(problem, Logistic) or not problem.shared:
        raise UserError("theory: constants are known for logistic regression whose clients share all data")
    optimum = problem.optimum or problem.solve()
    x0 = np.asarray(problem.start(0), dtype=np.float64)
    norms = _norms(problem.A)
    m1, m2, m3, m4 = (float(np.mean(norms**p)) for p in (1, 2, 3, 4))
    top = float(norms.max())
    covariance = 4 * (problem.smoothness - problem.l2)
    fourth = min(4 * top**2 * m2, m4 + 4 * m1 * m3 + 3 * m2**2)
    Q, way = min((m3, "mean |a|^3"), (top * covariance, "max |a| lambda_max(A'A)/n"))
    measured = ", ".join(f"{math.sqrt(variance(problem, x)):.4g} at {at}" for at, x in (("x0", x0), ("x*", optimum.x)))
    how = {
        "L": "exact: lambda_max(A'A)/(4n) + l2",
        "mu": "the l2 weight, a lower bound",
        "sigma": f"upper bound at every x, one sample a step: sqrt(mean |a|^2); measured {measured}",
        "sigma4": "upper bound at every x, one sample a step, from the moments of |a|",
        "Q": f"upper bound: {way} / (6 sqrt 3)",
        "D0": "|x0 - x*|, x* from the solver",
        "gap": "F(x0) - F*, F* from the solver",
    }
    D0, gap = float(np.linalg.norm(x0 - optimum.x)), max(problem.value(x0) - optimum.F, 0.0)
    return FedAcConstants(
        problem.smoothness, problem.l2, math.sqrt(m2), fourth**0.25, Q * THIRD_DERIVATIVE, D0, gap, how=how
    )


def variance(problem: Logistic, x: np.ndarray) -> float:
    """E|g(x) - F'(x)|^2 of the gradient g on one sample, at x (d,)."""
    residual = expit(-problem.b * (problem.A @ x))
    mean = problem.A.T @ (problem.b * residual) / problem.samples
    return max(float(np.mean((residual * _norms(problem.A)) ** 2) - mean @ mean), 0.0)


def _norms(A: Any) -> np.ndarray:
    """Return norms of the rows of a matrix (n, d), dense or sparse: (n,)."""
    squares = np.ravel(A.multiply(A).sum(axis=1)) if sparse.issparse(A) else np.einsum("ij,ij->i", A, A)
    return np.sqrt(squares.astype(np.float64))


def fedred_constants(problem: Problem, clients: int) -> tuple[FedRedConstants, dict[str, str]]:
    """Return the constants of a problem whose clients differ, and how each was obtained.

    Synthetic quadratics know all constants. Elsewhere delta_A and delta_B are estimated at the start x0 of seed 0
    and, where it is known, at the optimum.

    Args:
        problem: A problem; its optimum is computed if it can be and is missing.
        clients: Number of clients.

    Returns:
        The constants, of which unknown ones are not a number, and by name a text about their origin.
    """
    x0 = problem.start(0)
    if problem.optimum is None and problem.solvable:
        problem.optimum = problem.solve()
    exact, optimum = problem.constants(), problem.optimum
    if "delta_A" in exact:
        values = {name: exact[key] for name, key in (("mu", "mu_min"), ("L", "L_max"))}
        values |= {name: exact[name] for name in ("delta_A", "delta_B")}
        origins = {"mu": "exact: least curvature of any client", "L": "exact: largest curvature of any client"}
        origins |= {"delta_A": "exact", "delta_B": "exact"}
    else:
        values, origins = _estimates(problem, clients, x0)
    if optimum is not None:
        values["D0"], values["gap"] = float(np.linalg.norm(x0 - optimum.x)), problem.value(x0) - optimum.F
        origins |= {"D0": "|x0 - x*|, x* from the solver", "gap": "f(x0) - f*, f* from the solver"}
    else:
        values["D0"] = values["gap"] = math.nan
        origins |= {"D0": "unknown: no optimum", "gap": "unknown: no optimum"}
    return FedRedConstants(**{name: float(value) for name, value in values.items()}), origins


def _estimates(problem: Problem, clients: int, x0: Any) -> tuple[dict[str, float], dict[str, str]]:
    points = {"x0": x0} | ({"x*": problem.optimum.x} if problem.optimum is not None else {})
    measures = [Dissimilarity(problem, clients, x) for x in points.values()]
    origin = "estimate, a lower bound: power method on Hessian-vector products at " + " and ".join(points)
    values = {
        "delta_A": max(measure.delta_A() for measure in measures),
        "delta_B": max(measure.delta_B() for measure in measures),
    }
    origins = {"delta_A": origin, "delta_B": origin}
    if isinstance(problem, Regression):
        values |= {"mu": problem.l2, "L": problem.client_smoothness}
        return values, {"mu": "the l2 weight, a lower bound", "L": "largest upper bound of any client"} | origins
    values |= {"mu": -math.inf, "L": math.nan}
    return values, {"mu": "unknown: not convex", "L": "unknown"} | origins


@np.errstate(over="ignore")  # a number that overflows is infinite
def evaluate_theorems(problem_spec: dict[str, Any], clients: int, local_steps: int, steps: int) -> list[str]:
    """Return constants of a problem, then bound and hyper-parameters of each theorem, as lines of text.

    The theorems are those on FedAc where all clients share the data, and those on DANE+ and FedRed where they differ. A
    bound above F(x0) - F* is true and says nothing.

    Args:
        problem_spec: Specification of the problem, as for ``interactive.create``.
        clients: Number of clients M.
        local_steps: Local steps K of a round.
        steps: Number of steps T, cut to whole rounds.

    Raises:
        UserError: If a number is too small, or the problem's constants are not known.
    """
    if clients < 1 or local_steps < 1 or steps < local_steps:
        raise UserError("theory: clients and local steps must be at least 1, and steps at least one round of them")
    rounds = steps // local_steps
    problem = interactive.create(problem_spec, clients)
    theorems: Mapping[str, Theorem[Any]]
    c: Any
    if problem.shared:
        c = dataclasses.replace(fedac_constants(problem), M=clients, K=local_steps)
        origins, theorems = c.how, FEDAC_THEOREMS
    else:
        (c, origins), theorems = fedred_constants(problem, clients), FEDRED_BOUNDS
    T = rounds * local_steps
    lines = [f"M = {clients} clients, K = {local_steps} local steps, R = {rounds} rounds, T = {T} steps", ""]
    lines += [f"{name:<9}{_number(getattr(c, name)):<12}{how}" for name, how in origins.items()]
    lines += ["", f"{'theorem':<9}{'algorithm':<17}{'bound':<12}with"]
    for theorem in theorems.values():
        evaluated = _evaluated(theorem, c, rounds, T)
        lines.append(f"{theorem.name:<9}{theorem.algorithms[0]:<17}{evaluated}")
    if any(how.startswith("estimate") for how in origins.values()):
        lines += ["", "Estimates of delta_A and delta_B are lower bounds; the theorems may ask for more."]
    return lines


def _evaluated(theorem: Theorem[Any], c: Any, rounds: int, steps: int) -> str:
    """Return a theorem's bound after so many rounds or steps, and the hyper-parameters that it takes, in words."""
    if (needs := unmet(theorem.requirements(c, rounds))) is not None:
        return f"does not apply: needs {needs}"
    choices, name, bound = theorem.choices(c, rounds), theorem.algorithms[0], math.nan
    numbers = [value for value in choices.values() if isinstance(value, float)]
    if all(math.isfinite(value) and value > 0 for value in numbers):
        mu = {"mu": c.mu} if "mu" in ALGORITHMS.get(name).options() and c.mu >= 0 else {}
        algorithm = ALGORITHMS.create(name, mu | choices)
        bound = float(theorem.bound(c, algorithm, rounds if theorem.counts == "round" else steps))
    quantity = theorem.quantity.replace("$", "").replace(r"\mu", "mu").replace(r"\,", " ").replace("^*", "*")
    remark = ", above F(x0) - F*" if theorem.quantity == "suboptimality" and bound >= c.gap else ""
    values = ", ".join(f"{option} = {_number(value)}" for option, value in choices.items())
    return f"{_number(bound):<12}{values}; {quantity}{remark}"


def _number(value: float) -> str:
    return f"{value:.5g}" if math.isfinite(value) else "-"
