"""Metrics over clients: ``NAME_clients_STATISTIC`` is a statistic of the metric NAME of each client's model.

Each client's model is measured on the client's own rows, and every client counts alike.
"""

import re
from dataclasses import dataclass

import numpy as np

WORDS = {
    "mean": "mean {} over clients",
    "min": "smallest {} of a client",
    "max": "largest {} of a client",
    "sd": "standard deviation of the {} over clients",
}
MEASURES = ("loss", "accuracy")  # of a client's rows, in each part of the data
_NAME = re.compile(r"(?P<base>\w+)_clients_(?P<statistic>mean|min|max|sd|q(?:[1-9]|[1-9]\d))")


@dataclass(frozen=True)
class ClientMetric:
    """A metric over clients.

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
        return self.base.rpartition("_")[2] in MEASURES

    def words(self, base: str) -> str:
        """Return words for people. base: those for the metric of a client."""
        template = WORDS.get(self.statistic, f"{self.statistic[1:]} % quantile of the {{}} over clients")
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
    match = _NAME.fullmatch(name)
    return ClientMetric(**match.groupdict()) if match else None
