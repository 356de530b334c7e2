"""How much the gradients of a client's samples differ, sigma^2 of FedSPS, Section 4.1."""

from typing import Any

import numpy as np

from fedatlas.federation import arrays
from fedatlas.federation.metrics.base import Metric


def variance(problem: Any, x: Any) -> float:
    """The mean over clients of the mean over their samples j of |g_ij(x) - g_i(x)|^2."""
    split, found = problem.partition, []
    for i in range((problem.clients or 1) if split is None else len(split.sizes)):
        rows = np.arange(problem.samples) if split is None else np.asarray(split.client(i))
        gradients = arrays.to_numpy(problem.batch(np.full(len(rows), i), rows[:, None]).grad(x))
        apart = gradients - gradients.mean(axis=0)
        found.append(float(np.vecdot(apart, apart).mean()))
    return float(np.mean(found))


SAMPLE_VARIANCE = Metric(
    name="sample_variance", words="variance of the samples' gradients", symbol=r"$\sigma^2$", compute=variance
)
