"""The metrics. A module here that defines a `Metric` is found by itself: adding one is adding a file."""

from fedatlas.federation.metrics.base import Metric
from fedatlas.registry.kinds import Family

__all__ = ["METRICS", "Metric", "metric"]

METRICS: Family[Metric] = Family("metric", __name__, Metric, records=True)


def metric(name: str) -> Metric:
    """Return the record of a metric.

    A name that has no file, such as that of a recorded value, is read as a plain number of which small values are good.
    """
    if name in METRICS.names():
        return METRICS.get(name)
    return Metric(name=name, words=name.replace("_", " "))
