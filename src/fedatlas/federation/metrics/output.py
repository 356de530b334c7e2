"""The output of a problem with one variable."""

from fedatlas.federation.metrics import Metric

OUTPUT = Metric(
    name="output",
    words="output",
    symbol="$x$",
)
