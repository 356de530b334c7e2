"""Epsilon of the differential privacy of the clients, for a delta that the algorithm has."""

from fedatlas.federation.metrics.base import Metric

EPSILON = Metric(
    name="epsilon",
    words="privacy loss",
    symbol=r"$\varepsilon$",
)
