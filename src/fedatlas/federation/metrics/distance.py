"""Euclidean distance between the output and the minimiser."""

from fedatlas.federation.metrics import Metric

DISTANCE = Metric(
    name="distance",
    words="distance to the optimum",
    symbol=r"$|x - x^\ast|$",
    scale="log",
)
