"""Dissimilarity of the clients' Hessians, by the power method on Hessian-vector products."""

from typing import Any

import numpy as np

from fedatlas.federation import arrays
from fedatlas.federation.problems.base import Problem
from fedatlas.federation.streams import stream

ITERATIONS, TOLERANCE = 200, 1e-4  # of the power method: at most, and the relative change at which it stops


def delta_A(problem: Problem, clients: int, x: np.ndarray) -> float:
    """Return |mean_i D_i^2|^(1/2) in spectral norm at x (d,), where D_i = (Hessian of f_i) - (Hessian of f).

    Products are central differences of full gradients. The constant of the FedRed paper (Definition 2) is a supremum
    over all points, so the number is a lower bound.
    """
    batch, norm = problem.full_batch(np.arange(clients)), 0.0
    # The cube root of the precision balances truncation and rounding error of central differences.
    step = float(np.finfo(x.dtype).eps) ** (1 / 3) * (1 + float(arrays.norm(x)[0]))

    def products(v: Any) -> Any:
        """Return the clients' Hessians times v, a vector for all clients or one for each."""
        return (batch.grad(x + step * v) - batch.grad(x - step * v)) / (2 * step)

    v = np.asarray(stream(0, "evaluation", clients).standard_normal(len(x)), x.dtype)
    for _ in range(ITERATIONS):
        rows = products(arrays.unit(v))
        differences = rows - _mean(rows)
        norms = arrays.norm(differences)
        last, norm = norm, float((norms**2).mean()) ** 0.5
        if norm == 0 or abs(norm - last) <= TOLERANCE * norm:
            break
        v = _mean(products(arrays.unit(differences)) * norms)  # mean_i D_i^2 v is mean_i H_i D_i v: the D_i v sum to 0
    return norm


def _mean(rows: Any) -> Any:
    return sum(rows[1:], start=rows[0]) / len(rows)
