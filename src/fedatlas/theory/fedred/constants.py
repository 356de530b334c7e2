"""The constants of the FedRed paper's theorems, of problems that know them exactly or by estimates."""

import math
from typing import Any

import numpy as np

from fedatlas.federation.problems.base import Problem
from fedatlas.federation.problems.regression import Regression
from fedatlas.theory.dissimilarity import Dissimilarity
from fedatlas.theory.fedred.bound import FedRedConstants


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
    found = [Dissimilarity(problem, clients, x) for x in points.values()]
    origin = "estimate, a lower bound: power method on Hessian-vector products at " + " and ".join(points)
    values = {"delta_A": max(each.delta_A() for each in found), "delta_B": max(each.delta_B() for each in found)}
    origins = {"delta_A": origin, "delta_B": origin}
    if isinstance(problem, Regression):
        values |= {"mu": problem.l2, "L": problem.client_smoothness}
        return values, {"mu": "the l2 weight, a lower bound", "L": "largest upper bound of any client"} | origins
    values |= {"mu": -math.inf, "L": math.nan}
    return values, {"mu": "unknown: not convex", "L": "unknown"} | origins
