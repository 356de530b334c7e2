"""The metrics. A module here that defines a `Metric` is found by itself: adding one is adding a file."""

from fedatlas.federation.metrics.base import Metric
from fedatlas.federation.metrics.clients import ClientMetric, client_metric
from fedatlas.federation.metrics.rounds import RoundMetric, round_metric
from fedatlas.registry.kinds import Family

__all__ = [
    "METRICS",
    "ClientMetric",
    "Metric",
    "RoundMetric",
    "client_metric",
    "declared_name",
    "metric",
    "round_metric",
]

METRICS: Family[Metric] = Family("metric", __name__, Metric, records=True)


def metric(name: str) -> Metric:
    """Return the record of a metric.

    A name that has no file, such as that of a recorded value, is read as a plain number of which small values are good.
    """
    if name in METRICS:
        return METRICS.get(name)
    if (over_clients := client_metric(name)) is not None:
        base = metric(over_clients.base)
        return Metric(
            name=name,
            words=over_clients.words(base.words),
            larger_is_better=base.larger_is_better and over_clients.statistic != "sd",
            scale=base.scale,
            percent=base.percent,
        )
    if (over_rounds := round_metric(name)) is not None:
        base = metric(over_rounds.base)
        return Metric(
            name=name,
            words=over_rounds.words(base.words),
            larger_is_better=base.larger_is_better,
            scale=base.scale,
            percent=base.percent and over_rounds.statistic != "mean_square",
        )
    return Metric(name=name, words=name.replace("_", " "))


def declared_name(name: str) -> str | None:
    """Return the name of the metric that a file declares, of which a metric may be over clients or rounds; or None."""
    over = round_metric(name) or client_metric(name)
    if over is not None:
        return declared_name(over.base)
    return name if name in METRICS else None
