"""How much the clients' gradients differ, zeta^2 of FedSPS, Section 4.1."""

from typing import Any

import numpy as np

from fedatlas.federation.metrics.base import Metric
from fedatlas.federation.metrics.step_sizes import of_clients


def variance(problem: Any, x: Any) -> float:
    """mean_i |g_i(x) - mean_j g_j(x)|^2."""
    _, gradients = of_clients(problem, x)
    apart = gradients - gradients.mean(axis=0)
    return float(np.vecdot(apart, apart).mean())


CLIENT_VARIANCE = Metric(
    name="client_variance", words="variance of the clients' gradients", symbol=r"$\zeta^2$", compute=variance
)
