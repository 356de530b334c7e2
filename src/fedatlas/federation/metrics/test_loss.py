"""Mean loss over the test samples, without the l2 term."""

from fedatlas.federation.metrics.base import Metric

TEST_LOSS = Metric(
    name="test_loss",
    words="test loss",
)
