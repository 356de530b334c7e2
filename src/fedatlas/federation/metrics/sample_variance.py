"""Variance of the gradients of a client's samples, sigma^2 of FedSPS, Section 4.1."""

from typing import Any

import numpy as np

from fedatlas.federation import arrays
from fedatlas.federation.metrics import Metric


def variance(problem: Any, x: Any) -> float:
    """Return the mean over clients of the mean over their samples j of |g_ij(x) - g_i(x)|^2."""
    partition, variances = problem.partition, []
    for i in range((problem.clients or 1) if partition is None else len(partition.sizes)):
        rows = np.arange(problem.samples) if partition is None else np.asarray(partition.client(i))
        gradients = arrays.to_numpy(problem.batch(np.full(len(rows), i), rows[:, None]).grad(x))
        deviations = gradients - gradients.mean(axis=0)
        variances.append(float(np.vecdot(deviations, deviations).mean()))
    return float(np.mean(variances))


SAMPLE_VARIANCE = Metric(
    name="sample_variance", words="variance of the samples' gradients", symbol=r"$\sigma^2$", compute=variance
)
