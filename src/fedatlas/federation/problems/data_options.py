"""Where a problem's data come from: the data sets, how their rows are split over clients, and what is held out."""

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

    data: str = option(doc="name of the data set, or a mapping of own data, see docs/how-to/data.md")
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
    """Training data and partition without the rows that are held out, which are the data's validation part.

    partition: rows of each client, or None where all clients share all rows. share: of each client's rows, rounded
    down; at least one row stays. The rows depend on nothing else. With a share of 0, what is given is returned. Raises
    UserError if that is no row of any client.
    """
    if not share:
        return train, partition
    held = np.zeros(len(train.y), bool)
    owners = [np.arange(len(train.y))] if partition is None else map(partition.client, range(partition.clients))
    for owner, rows in enumerate(owners):
        count = min(math.floor(share * len(rows) + 1e-9), len(rows) - 1)
        if count > 0:
            held[stream(0, "validation", owner).choice(rows, count, replace=False)] = True
    if not held.any():
        raise UserError(
            f"problem.validation: {share:g} of each client's rows is less than one row; take a larger share"
        )
    parts: dict[str, Any] = {
        "X": train.X[~held],
        "y": train.y[~held],
        "X_validation": train.X[held],
        "y_validation": train.y[held],
    }
    left = dataclasses.replace(train, **parts)
    return left, None if partition is None else _without(partition, held)


def _without(partition: "Partition", held: np.ndarray) -> "Partition":
    """A partition of the rows that are left when those ``held`` (samples,) are taken out."""
    stays = ~held[partition.order]
    ends = np.concatenate([[0], np.cumsum(stays)])[partition.offsets]
    places = np.cumsum(~held) - 1
    order = places[partition.order[stays]]
    return dataclasses.replace(partition, samples=int((~held).sum()), order=order, offsets=ends)
