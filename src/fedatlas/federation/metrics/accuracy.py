"""Share of the clients' training samples that are classified correctly; all of them count alike."""

from fedatlas.federation.metrics import Metric

ACCURACY = Metric(
    name="accuracy",
    words="training accuracy",
    head="training",
    larger_is_better=True,
    percent=True,
)
