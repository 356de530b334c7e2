"""Value of the objective F, the mean of the clients' objectives, on the training rows that are evaluated."""

from fedatlas.federation.metrics import Metric

LOSS = Metric(
    name="loss",
    words="training loss",
    symbol="$F(x)$",
)
