"""Share of the training rows that are held out that are classified correctly."""

from fedatlas.federation.metrics import Metric

VALIDATION_ACCURACY = Metric(
    name="validation_accuracy",
    words="validation accuracy",
    head="validation",
    larger_is_better=True,
    percent=True,
)
