"""Options of problems on data: the data sets, the partition of their rows over clients, and the validation rows."""

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fedatlas.errors import UserError
from fedatlas.federation.streams import stream
from fedatlas.registry.options import option

if TYPE_CHECKING:
    from fedatlas.data.dataset import Dataset
    from fedatlas.federation.partitions.partition import Partition


@dataclass(frozen=True, kw_only=True)
class DataOptions:
    """The keys that specifications of all problems on data share."""

    data: str = option(doc="name of the data set, or a mapping of custom data, see docs/how-to/data.md")
    test: str | None = option(None, doc="another data set to test on, as data; by default the test part of data")
    partition: str | dict[str, Any] | None = option(
        None, doc="how rows are split over clients; without one every client draws from all rows", family="partition"
    )
    validation: float = option(
        0.0,
        doc="share of each client's training rows that is held out, the same rows in all runs, for the metrics "
        "validation_loss and validation_accuracy; rounded down, and one row stays",
        low=0,
        below=1,
    )


def hold_out(train: "Dataset", partition: "Partition | None", share: float) -> "tuple[Dataset, Partition | None]":
    """Hold out a share of each client's training rows for validation.

    The validation rows depend on the arguments alone.

    Args:
        train: Training data.
        partition: Rows of each client, or None if all clients share all rows.
        share: Share of each client's rows to hold out, rounded down; at least one row of each client stays.

    Returns:
        The data, whose validation part are the rows that are held out, and the partition of the other rows.

    Raises:
        UserError: The share is less than one row for all clients.
    """
    if not share:
        return train, partition
    held_out = np.zeros(len(train.y), bool)
    client_rows = [np.arange(len(train.y))] if partition is None else map(partition.client, range(partition.clients))
    for client, rows in enumerate(client_rows):
        count = min(math.floor(share * len(rows) + 1e-9), len(rows) - 1)
        if count > 0:
            held_out[stream(0, "validation", client).choice(rows, count, replace=False)] = True
    if not held_out.any():
        raise UserError(
            f"problem.validation: {share:g} of each client's rows is less than one row; take a larger share"
        )
    parts: dict[str, Any] = {
        "X": train.X[~held_out],
        "y": train.y[~held_out],
        "X_validation": train.X[held_out],
        "y_validation": train.y[held_out],
    }
    remaining = dataclasses.replace(train, **parts)
    return remaining, None if partition is None else _without(partition, held_out)


def _without(partition: "Partition", held_out: np.ndarray) -> "Partition":
    """Return the partition of the rows that remain, numbered anew, without the rows ``held_out`` (samples,)."""
    remains = ~held_out[partition.order]
    offsets = np.concatenate([[0], np.cumsum(remains)])[partition.offsets]
    new_number = np.cumsum(~held_out) - 1
    order = new_number[partition.order[remains]]
    return dataclasses.replace(partition, samples=int((~held_out).sum()), order=order, offsets=offsets)
