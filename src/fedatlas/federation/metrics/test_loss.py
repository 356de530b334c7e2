"""Mean loss over the test samples, without the l2 term."""

from fedatlas.federation.metrics import Metric

TEST_LOSS = Metric(
    name="test_loss",
    words="test loss",
)
