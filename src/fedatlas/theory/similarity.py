"""How much the Hessians of clients differ: the constants of Jiang, Rodomanov & Stich (2024)."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from fedatlas.errors import UserError
from fedatlas.federation import arrays
from fedatlas.federation.problems.base import Problem
from fedatlas.federation.problems.regression import Regression
from fedatlas.federation.streams import stream
from fedatlas.theory.bound import Similarity

ITERATIONS, TOLERANCE = 200, 1e-4  # of the power method: at most, and the relative change at which it stops


def dissimilarity(
    problem: Problem, clients: int, x: Any, iterations: int = ITERATIONS, tolerance: float = TOLERANCE
) -> tuple[float, float]:
    """delta_A and delta_B of the Hessians at x, by the power method on Hessian-vector products.

    They are |mean_i D_i^2|^(1/2) and max_i |D_i| in spectral norm, with D_i = (Hessian of f_i) - (Hessian of f).
    x: (d,), of either array library. iterations: at most. tolerance: relative change at which the method stops.
    Products are central differences of full gradients. FedRed's constants (Definitions 2 and 1) are suprema over all
    x, so what is returned are lower bounds. Raises UserError where x is neither float32 nor float64.
    """
    hessians = _Hessians(problem, clients, x, iterations, tolerance)
    return hessians.delta_A(), hessians.delta_B()


def mean_dissimilarity(problem: Problem, clients: int, x: Any) -> float:
    """delta_A of ``dissimilarity`` alone, which takes a small part of the time."""
    return _Hessians(problem, clients, x, ITERATIONS, TOLERANCE).delta_A()


class _Hessians:
    """The Hessians H_i of the clients at x, by their products with vectors."""

    def __init__(self, problem: Problem, clients: int, x: Any, iterations: int, tolerance: float) -> None:
        self.batch, self.clients, self.x = problem.full_batch(np.arange(clients)), clients, x
        self.step = _epsilon(x) ** (1 / 3) * (1 + float(arrays.norm(x)[0]))
        self.iterations, self.tolerance = iterations, tolerance

    def delta_A(self) -> float:
        return self._largest(self._of_all, self.clients)

    def delta_B(self) -> float:
        return max(self._largest(self._of_one, i) for i in range(self.clients))

    def _products(self, v: Any) -> Any:
        """The clients' Hessians times v, one vector or one for each."""
        return (self.batch.grad(self.x + self.step * v) - self.batch.grad(self.x - self.step * v)) / (2 * self.step)

    def _mean(self, rows: Any) -> Any:
        return sum(rows[1:], start=rows[0]) / self.clients

    def _of_one(self, v: Any, i: int) -> tuple[float, Any]:
        """|D_i v| and D_i v."""
        each = self._products(v)
        apart = each[i] - self._mean(each)
        return float(arrays.norm(apart)[0]), apart

    def _of_all(self, v: Any, _: int) -> tuple[float, Any]:
        """(mean_i |D_i v|^2)^(1/2) and mean_i D_i^2 v, which is mean_i H_i D_i v since the D_i v sum to 0."""
        each = self._products(v)
        apart = each - self._mean(each)
        norms = arrays.norm(apart)
        return float((norms**2).mean()) ** 0.5, self._mean(self._products(arrays.unit(apart)) * norms)

    def _largest(self, apply: Callable[[Any, int], tuple[float, Any]], i: int) -> float:
        v, norm = _like(self.x, stream(0, "evaluation", i).standard_normal(len(self.x))), 0.0
        for _ in range(self.iterations):
            last, (norm, following) = norm, apply(arrays.unit(v), i)
            if norm == 0 or abs(norm - last) <= self.tolerance * norm:
                break
            v = following
        return norm


def constants(problem: Problem, clients: int, x0: Any = None) -> tuple[Similarity, dict[str, str]]:
    """The constants of a problem whose clients differ, and for each name how the constant was obtained.

    x0: the start (d,); by default that of seed 0. Synthetic quadratics know all constants. Elsewhere delta_A and
    delta_B are estimated at x0 and, where it is known, at the optimum. An unknown constant is not a number.
    """
    x0 = problem.start(0) if x0 is None else x0
    if problem.optimum is None and problem.solvable:
        problem.optimum = problem.solve()
    known, optimum = problem.constants(), problem.optimum
    if "delta_A" in known:
        values = {name: known[key] for name, key in (("mu", "mu_min"), ("L", "L_max"))}
        values |= {name: known[name] for name in ("delta_A", "delta_B")}
        how = {"mu": "exact: least curvature of any client", "L": "exact: largest curvature of any client"}
        how |= {"delta_A": "exact", "delta_B": "exact"}
    else:
        values, how = _estimated(problem, clients, x0)
    if optimum is not None:
        values["D0"], values["gap"] = float(np.linalg.norm(x0 - optimum.x)), problem.value(x0) - optimum.F
        how |= {"D0": "|x0 - x*|, x* from the solver", "gap": "f(x0) - f*, f* from the solver"}
    else:
        values["D0"] = values["gap"] = math.nan
        how |= {"D0": "unknown: no optimum", "gap": "unknown: no optimum"}
    return Similarity(**{name: float(value) for name, value in values.items()}), how


def _estimated(problem: Problem, clients: int, x0: Any) -> tuple[dict[str, float], dict[str, str]]:
    points = {"x0": x0} | ({"x*": problem.optimum.x} if problem.optimum is not None else {})
    found = {at: dissimilarity(problem, clients, x) for at, x in points.items()}
    kind = "estimate, a lower bound: power method on Hessian-vector products at " + " and ".join(found)
    values = {"delta_A": max(a for a, _ in found.values()), "delta_B": max(b for _, b in found.values())}
    how = {"delta_A": kind, "delta_B": kind}
    if isinstance(problem, Regression):
        values |= {"mu": problem.l2, "L": problem.client_smoothness}
        return values, {"mu": "the l2 weight, a lower bound", "L": "largest upper bound of any client"} | how
    values |= {"mu": -math.inf, "L": math.nan}
    return values, {"mu": "unknown: not convex", "L": "unknown"} | how


def _epsilon(x: Any) -> float:
    dtype = str(x.dtype).removeprefix("torch.")
    if dtype not in ("float32", "float64"):
        raise UserError(f"theory: differences of gradients need float32 or float64, not {dtype}")
    return float(np.finfo(dtype).eps)


def _like(x: Any, v: np.ndarray) -> Any:
    """The numbers v in the array library and type of x."""
    return np.asarray(v, x.dtype) if isinstance(x, np.ndarray) else x.new_tensor(v)
