"""Share of the test samples that are classified correctly."""

from fedatlas.federation.metrics import Metric

TEST_ACCURACY = Metric(
    name="test_accuracy",
    words="test accuracy",
    head="test",
    larger_is_better=True,
    percent=True,
)
