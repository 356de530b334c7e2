"""Polyak step sizes of the objectives of all clients at one point (Mukherjee et al. 2024, FedSPS, Appendix D.2.2).

All are with c = 1, l* = 0 and no bound: c scales them alike.
"""

from typing import Any

import numpy as np

from fedatlas.federation import arrays
from fedatlas.federation.metrics import Metric


def mean(problem: Any, x: Any) -> float:
    """Return gamma^(a) = mean_i f_i / |g_i|^2."""
    losses, gradients = client_oracles(problem, x)
    return float(np.mean(losses / np.vecdot(gradients, gradients)))


def pooled(problem: Any, x: Any) -> float:
    """Return gamma^(b) = mean_i f_i / mean_i |g_i|^2."""
    losses, gradients = client_oracles(problem, x)
    return float(losses.mean() / np.vecdot(gradients, gradients).mean())


def joint(problem: Any, x: Any) -> float:
    """Return gamma^(c) = mean_i f_i / |mean_i g_i|^2."""
    losses, gradients = client_oracles(problem, x)
    gradient = gradients.mean(axis=0)
    return float(losses.mean() / (gradient @ gradient))


def client_oracles(problem: Any, x: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return losses (n,) and gradients (n, d) of the clients at x (d,); of one client where all share the data."""
    clients = (problem.clients or 1) if problem.partition is None else len(problem.partition.sizes)
    losses, gradients = problem.full_batch(np.arange(clients)).value_and_grad(x)
    return np.asarray(arrays.to_numpy(losses), float)[:, 0], np.asarray(arrays.to_numpy(gradients), float)


SPS_MEAN = Metric(name="sps_mean", words="mean Polyak step size", symbol=r"$\gamma^{(a)}$", compute=mean)
SPS_POOLED = Metric(name="sps_pooled", words="pooled Polyak step size", symbol=r"$\gamma^{(b)}$", compute=pooled)
SPS_JOINT = Metric(name="sps_joint", words="Polyak step size of the mean", symbol=r"$\gamma^{(c)}$", compute=joint)
