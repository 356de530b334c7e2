"""Variance of the clients' gradients, zeta^2 of FedSPS, Section 4.1."""

from typing import Any

import numpy as np

from fedatlas.federation.metrics import Metric
from fedatlas.federation.metrics.polyak_step_sizes import client_oracles


def variance(problem: Any, x: Any) -> float:
    """Return mean_i |g_i(x) - mean_j g_j(x)|^2."""
    _, gradients = client_oracles(problem, x)
    deviations = gradients - gradients.mean(axis=0)
    return float(np.vecdot(deviations, deviations).mean())


CLIENT_VARIANCE = Metric(
    name="client_variance", words="variance of the clients' gradients", symbol=r"$\zeta^2$", compute=variance
)
