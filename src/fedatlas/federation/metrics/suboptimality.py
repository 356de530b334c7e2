"""Difference between the objective and its minimum."""

from fedatlas.federation.metrics import Metric

SUBOPTIMALITY = Metric(
    name="suboptimality",
    words="suboptimality",
    symbol=r"$F(x) - F^\ast$",
    scale="log",
)
