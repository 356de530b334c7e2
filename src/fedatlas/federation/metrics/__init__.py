"""The metrics. A module here that defines a `Metric` is found by itself: adding one is adding a file."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from fedatlas.federation.metrics.clients import ClientMetric, client_metric
from fedatlas.federation.metrics.rounds import RoundMetric, round_metric
from fedatlas.registry.kinds import Family


@dataclass(frozen=True, kw_only=True)
class Metric:
    """A number that evaluations report.

    Attributes:
        name: Column in run files.
        words: Words for people.
        head: Head of a narrow column; by default the words.
        symbol: TeX between dollar signs, or nothing.
        larger_is_better: Whether the larger of two values is the better one.
        scale: Scale of an axis that shows it, unless a figure says otherwise.
        percent: Whether tables show it in percent.
        unit: Unit, such as ``s``.
        compute: Function of the problem and the output (d,) that returns the number, for metrics that a setting asks
            for in ``metrics``; None for those that problems report by themselves.
    """

    name: str
    words: str
    head: str = ""
    symbol: str = ""
    larger_is_better: bool = False
    scale: Literal["linear", "log"] = "linear"
    percent: bool = False
    unit: str = ""
    compute: Callable[[Any, Any], float] | None = None

    @property
    def goal(self) -> Literal["min", "max"]:
        """Direction of good values."""
        return "max" if self.larger_is_better else "min"


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
