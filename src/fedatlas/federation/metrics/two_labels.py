"""Share of a client's data that bears its two most frequent labels."""

from typing import Any

import numpy as np

from fedatlas.errors import UserError
from fedatlas.federation.metrics import Metric


def share(problem: Any, x: Any) -> float:
    """Return the share of a client's samples that bear its two most frequent labels, averaged over clients.

    It depends on the partition alone. Raises UserError if the data are not split over clients.
    """
    if getattr(problem, "partition", None) is None:
        raise UserError("the metric two_labels needs data that are split over clients: give the problem a partition")
    labels = np.asarray(problem.labels)
    counts = np.sort(problem.partition.histogram(labels, int(labels.max()) + 1), axis=1)
    return float((counts[:, -2:].sum(axis=1) / counts.sum(axis=1)).mean())


TWO_LABELS = Metric(name="two_labels", words="share of a client's two most frequent labels", compute=share)
