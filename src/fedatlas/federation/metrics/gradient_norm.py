"""Euclidean norm of the objective's gradient."""

from fedatlas.federation.metrics import Metric

GRADIENT_NORM = Metric(
    name="gradient_norm",
    words="gradient norm",
    symbol=r"$|\nabla F(x)|$",
    scale="log",
)
