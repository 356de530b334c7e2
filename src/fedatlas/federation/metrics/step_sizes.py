"""Polyak step sizes of the objectives of all clients at one point (Mukherjee et al. 2024, Appendix D.2.2).

All are with c = 1, l* = 0 and no bound: c scales them alike.
"""

from typing import Any

import numpy as np

from fedatlas.federation import arrays


def mean(problem: Any, x: Any) -> float:
    """gamma^(a) = mean_i f_i / |g_i|^2."""
    losses, gradients = of_clients(problem, x)
    return float(np.mean(losses / np.vecdot(gradients, gradients)))


def pooled(problem: Any, x: Any) -> float:
    """gamma^(b) = mean_i f_i / mean_i |g_i|^2."""
    losses, gradients = of_clients(problem, x)
    return float(losses.mean() / np.vecdot(gradients, gradients).mean())


def joint(problem: Any, x: Any) -> float:
    """gamma^(c) = mean_i f_i / |mean_i g_i|^2."""
    losses, gradients = of_clients(problem, x)
    whole = gradients.mean(axis=0)
    return float(losses.mean() / (whole @ whole))


def of_clients(problem: Any, x: Any) -> tuple[np.ndarray, np.ndarray]:
    """Losses (n,) and gradients (n, d) of the clients at x (d,); of one where all clients share the data."""
    clients = (problem.clients or 1) if problem.partition is None else len(problem.partition.sizes)
    losses, gradients = problem.full_batch(np.arange(clients)).value_and_grad(x)
    return np.asarray(arrays.to_numpy(losses), float)[:, 0], np.asarray(arrays.to_numpy(gradients), float)
