"""Dissimilarity of the clients' Hessians, by the power method on Hessian-vector products."""

from collections.abc import Callable
from typing import Any

import numpy as np

from fedatlas.federation import arrays
from fedatlas.federation.problems.base import Problem
from fedatlas.federation.streams import stream

ITERATIONS, TOLERANCE = 200, 1e-4  # of the power method: at most, and the relative change at which it stops


class Dissimilarity:
    """Dissimilarity of the clients' Hessians at a point, by their products with vectors.

    D_i = (Hessian of f_i) - (Hessian of f). Products are central differences of full gradients. The constants of the
    FedRed paper (Definitions 2 and 1) are suprema over all points, so the numbers are lower bounds.
    """

    def __init__(self, problem: Problem, clients: int, x: Any) -> None:
        """Take the clients of a problem at a point x (d,), of either array library."""
        self.batch, self.clients, self.x = problem.full_batch(np.arange(clients)), clients, x
        # The cube root of the precision balances truncation and rounding error of central differences.
        epsilon = float(np.finfo(str(x.dtype).removeprefix("torch.")).eps)
        self.step = epsilon ** (1 / 3) * (1 + float(arrays.norm(x)[0]))

    def delta_A(self) -> float:
        """Return |mean_i D_i^2|^(1/2) in spectral norm."""
        return self._largest(self._apply_all, self.clients)

    def delta_B(self) -> float:
        """Return max_i |D_i| in spectral norm, which takes a power method for each client."""
        return max(self._largest(self._apply_client, i) for i in range(self.clients))

    def _products(self, v: Any) -> Any:
        """Return the clients' Hessians times v, a vector for all clients or one for each."""
        return (self.batch.grad(self.x + self.step * v) - self.batch.grad(self.x - self.step * v)) / (2 * self.step)

    def _mean(self, rows: Any) -> Any:
        return sum(rows[1:], start=rows[0]) / self.clients

    def _apply_client(self, v: Any, i: int) -> tuple[float, Any]:
        """Return |D_i v| and D_i v."""
        products = self._products(v)
        difference = products[i] - self._mean(products)
        return float(arrays.norm(difference)[0]), difference

    def _apply_all(self, v: Any, _: int) -> tuple[float, Any]:
        """Return (mean_i |D_i v|^2)^(1/2) and mean_i D_i^2 v, which is mean_i H_i D_i v since the D_i v sum to 0."""
        products = self._products(v)
        differences = products - self._mean(products)
        norms = arrays.norm(differences)
        return float((norms**2).mean()) ** 0.5, self._mean(self._products(arrays.unit(differences)) * norms)

    def _largest(self, apply: Callable[[Any, int], tuple[float, Any]], i: int) -> float:
        start, norm = stream(0, "evaluation", i).standard_normal(len(self.x)), 0.0
        v = np.asarray(start, self.x.dtype) if isinstance(self.x, np.ndarray) else self.x.new_tensor(start)
        for _ in range(ITERATIONS):
            last, (norm, following) = norm, apply(arrays.unit(v), i)
            if norm == 0 or abs(norm - last) <= TOLERANCE * norm:
                break
            v = following
        return norm
