"""Value of the objective over all training data."""

from fedatlas.federation.metrics.base import Metric

LOSS = Metric(
    name="loss",
    words="training loss",
    symbol="$F(x)$",
)
