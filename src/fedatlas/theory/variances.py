"""Constants of problems whose gradients differ among clients and samples by the same at every point."""

from typing import Any

import numpy as np

from fedatlas.theory import NotCovered


def constant_variances(problem: Any, batch: int | None) -> tuple[float, float]:
    """Return mean_i |grad f_i - grad f|^2, and the largest variance of any client's gradient on a minibatch.

    Args:
        problem: A problem of known clients and samples.
        batch: Samples of a minibatch; None for full gradients.

    Raises:
        NotCovered: If they are not the same at every point, of which two are compared.
    """
    x0 = problem.start(0)
    at_start, beside_start = (_variances(problem, x, batch) for x in (x0, x0 + 1))
    if not np.allclose(at_start, beside_start, rtol=1e-6):
        raise NotCovered("the theorem needs gradients that differ among clients and samples by the same at every point")
    return at_start


def _variances(problem: Any, x: np.ndarray, batch: int | None) -> tuple[float, float]:
    """Return the variances of `constant_variances` at x."""
    ids = np.arange(problem.clients)
    gradients = problem.full_batch(ids).grad(x)
    apart, noise = gradients - gradients.mean(axis=0), np.zeros(len(ids))
    for j in range(problem.samples if batch else 0):
        error = problem.batch(ids, np.full((len(ids), 1), j)).grad(x) - gradients
        noise += np.vecdot(error, error) / problem.samples / (batch or 1)
    return float(np.vecdot(apart, apart).mean()), float(noise.max())


def least_value(problem: Any) -> float:
    """Return F*, or where it is not known the minimum of F without its non-convex term, which is no larger.

    Raises:
        NotCovered: If neither is known.
    """
    if problem.optimum is not None:
        return float(problem.optimum.F)
    if not hasattr(problem, "nonconvex_value"):
        raise NotCovered("the theorem needs an objective with a minimum")
    x = np.linalg.solve(*problem.mean[:2])
    return float(problem.value(x) - problem.nonconvex_value(x))
