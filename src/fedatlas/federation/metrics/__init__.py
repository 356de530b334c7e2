"""The metrics. A module here that defines a `Metric` is found by itself: adding one is adding a file.

Metrics over clients and over rounds need no file: their names, such as ``test_accuracy_clients_min`` or
``gradient_norm_rounds_mean``, say which statistic of which metric they are.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from fedatlas.registry.kinds import Family


@dataclass(frozen=True, kw_only=True)
class Metric:
    """A number that evaluations report, and how it is read, drawn and, where needed, computed.

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


CLIENT_WORDS = {
    "mean": "mean {} over clients",
    "min": "smallest {} of a client",
    "max": "largest {} of a client",
    "sd": "standard deviation of the {} over clients",
}
CLIENT_MEASURES = ("loss", "accuracy")  # of a client's rows, in each part of the data
_CLIENT_NAME = re.compile(r"(?P<base>\w+)_clients_(?P<statistic>mean|min|max|sd|q(?:[1-9]|[1-9]\d))")


@dataclass(frozen=True)
class ClientMetric:
    """A metric over clients: a statistic of another metric of each client's model.

    Each client's model is measured on the client's own rows, and every client counts alike.

    Attributes:
        base: Metric of each client, such as ``test_accuracy``.
        statistic: ``mean``, ``min``, ``max``, ``sd``, or ``qP``, the P % quantile.
    """

    base: str
    statistic: str

    @property
    def part(self) -> str:
        """Part of the data that holds the rows: ``train``, ``test`` or ``validation``."""
        return self.base.rpartition("_")[0] or "train"

    @property
    def measured(self) -> bool:
        """True if the metric of a client is one that is measured on its rows."""
        return self.base.rpartition("_")[2] in CLIENT_MEASURES

    def words(self, base: str) -> str:
        """Return words for people. base: those for the metric of a client."""
        template = CLIENT_WORDS.get(self.statistic, f"{self.statistic[1:]} % quantile of the {{}} over clients")
        return template.format(base)

    def value(self, values: np.ndarray) -> float:
        """Return the statistic of the clients' values (m,); a NaN, of a client without such rows, does not count."""
        values = values[~np.isnan(values)]
        if not len(values):
            return float("nan")
        if self.statistic.startswith("q"):
            return float(np.quantile(values, int(self.statistic[1:]) / 100))
        return float(getattr(np, {"sd": "std"}.get(self.statistic, self.statistic))(values))


def client_metric(name: str) -> ClientMetric | None:
    """Return the metric over clients of a name, or None if the name is not of this form."""
    match = _CLIENT_NAME.fullmatch(name)
    return ClientMetric(**match.groupdict()) if match else None


ROUND_WORDS = {
    "mean": "{}, mean over rounds",
    "mean_square": "{}, mean square over rounds",
    "min": "{}, smallest so far",
    "max": "{}, largest so far",
}
_ROUND_NAME = re.compile(r"(?P<base>\w+)_rounds_(?P<statistic>mean_square|mean|min|max)")


@dataclass(frozen=True)
class RoundMetric:
    """A metric over rounds: a statistic of another metric after all rounds so far.

    The values are those before the first round and after each round, also of rounds that have no row. Rounds in which
    the metric has no value, such as round 0 of what is recorded of local steps, do not count.

    Attributes:
        base: Metric of each round, such as ``gradient_norm``.
        statistic: ``mean``, ``mean_square``, ``min`` or ``max``.
    """

    base: str
    statistic: str

    @property
    def extreme(self) -> bool:
        """Whether it is a value of one round."""
        return self.statistic in ("min", "max")

    def words(self, base: str) -> str:
        """Return words for people. base: those for the metric of a round."""
        return ROUND_WORDS[self.statistic].format(base)

    def add(self, total: list[float] | None, value: float) -> list[float]:
        """Return the total of some rounds and the next one. Once a value is NaN, the statistic is.

        Args:
            total: How many rounds have a value, and the sum of the values or squares, or the extreme value, in double
                precision; None before the first one.
            value: Value of the next round.
        """
        value = value * value if self.statistic == "mean_square" else value
        if total is None:
            return [1, value]
        count, number = total
        if self.extreme:
            return [count + 1, float({"min": np.minimum, "max": np.maximum}[self.statistic](number, value))]
        return [count + 1, number + value]

    def value(self, total: list[float]) -> float:
        """Return the statistic. total: As `add` returned it."""
        count, number = total
        return number if self.extreme else number / count


def round_metric(name: str) -> RoundMetric | None:
    """Return the metric over rounds of a name, or None if the name is not of this form."""
    match = _ROUND_NAME.fullmatch(name)
    return RoundMetric(**match.groupdict()) if match else None
