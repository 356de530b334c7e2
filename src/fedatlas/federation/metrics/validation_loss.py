"""Mean loss over the training rows that are held out, without the l2 term."""

from fedatlas.federation.metrics import Metric

VALIDATION_LOSS = Metric(
    name="validation_loss",
    words="validation loss",
)
