"""Stands in for `fedatlas.partitions.split`."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from fedatlas.data.partition import Partition, partition


def split(how: str | Mapping[str, Any], y: np.ndarray, clients: int) -> Partition | None:
    """Partition of labelled data from its specification; None where every client draws from all rows."""
    values = {"kind": how} if isinstance(how, str) else dict(how)
    kind = values.pop("kind", "iid")
    return None if kind == "shared" else partition(kind, y, clients, values.pop("seed", 0), **values)
