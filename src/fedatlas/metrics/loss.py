"""Value of the objective over all training data."""

from fedatlas.metrics.base import Metric

LOSS = Metric(
    name="loss",
    words="training loss",
    symbol="$F(x)$",
)
