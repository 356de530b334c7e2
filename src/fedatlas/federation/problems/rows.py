"""Problems on rows of data: their base class, the options of their data, and rows that are held out."""

import dataclasses
import functools
import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from fedatlas.errors import UserError
from fedatlas.federation import arrays
from fedatlas.federation.problems.base import Problem, Vector
from fedatlas.federation.streams import stream
from fedatlas.registry.options import option

if TYPE_CHECKING:
    from fedatlas.data.dataset import Dataset
    from fedatlas.federation.partitions.partition import Partition

HeldOut: TypeAlias = "tuple[Dataset, Partition | None, dict[str, Partition]]"
Weights = Literal["equal", "size"]
WEIGHTS_DOC = (
    "equal: a client's objective is the mean loss of its samples; size: that mean times n m_i / M, for n clients of "
    "which this one has m_i of M samples, so that the plain mean over clients is the mean over all samples (FedRed, "
    "Section 5)"
)


class RowProblem(Problem):
    """A problem on rows of data, with parts ``train``, ``test`` and ``validation``.

    It knows the weights of rows and clients in F, and metrics of clients on their own rows.
    """

    @functools.cached_property
    def client_factors(self) -> np.ndarray | None:
        """Factors (clients,) of the mean losses of clients' rows in f_i; None if all are 1."""
        if self.partition is None or self.weights != "size":
            return None
        sizes = self.partition.sizes
        return len(sizes) / sizes.sum() * sizes

    @functools.cached_property
    def row_weights(self) -> np.ndarray | None:
        """Weights w (samples,) with which F is mean_j w_j loss_j over all rows; None if all are 1.

        Rows that no client has weigh 0.
        """
        partition = self.partition
        if partition is None:
            return None
        alike = self.weights == "size" or np.ptp(partition.sizes) == 0
        if alike and partition.sizes.sum() == self.samples:  # the mean over all rows, to the bit
            return None
        factors = self.client_factors
        per_row = self.samples / partition.clients / partition.sizes * (1 if factors is None else factors)
        rows = np.zeros(self.samples)
        rows[partition.order] = np.repeat(per_row, partition.sizes)
        return rows

    @abstractmethod
    def row_scores(self, x: Vector, part: str, rows: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """Return the losses (r,) of rows, and whether the model classifies them correctly, (r,).

        Args:
            x: Model, (d,).
            part: Part of the data. Losses of training rows have the l2 term.
            rows: Numbers of the rows, (r,), or None for all rows of the part.
        """

    def evaluate_clients(self, y: Vector, clients: np.ndarray, names: Sequence[str]) -> dict[str, np.ndarray]:
        models = arrays.rows(y, len(clients))
        values = {name: np.full(len(clients), np.nan) for name in names}
        for part in dict.fromkeys(name.rpartition("_")[0] for name in names):
            for at, client in enumerate(clients):
                scores = self._client_scores(models[at], part or "train", int(client))
                for measure, value in scores.items():
                    name = f"{part}_{measure}".lstrip("_")
                    if name in values:
                        values[name][at] = value
        return values

    def _client_scores(self, x: Vector, part: str, client: int) -> dict[str, float]:
        """Return loss and accuracy of a model on a client's rows of a part; nothing if it has none."""
        rows = None
        if self.partition is not None:
            partition = self.partition if part == "train" else self.part_rows.get(part)
            if partition is None:
                raise rows_without_clients(part)
            rows = partition.client(client)
            if not len(rows):
                return {}
        losses, correct = self.row_scores(x, part, rows)
        means = (float(values.mean()) for values in (losses, correct))
        return dict(zip(("loss", "accuracy"), means, strict=True))


@dataclass(frozen=True, kw_only=True)
class DataOptions:
    """The keys that specifications of all problems on data share."""

    data: str = option(doc="name of the data set, or a mapping of custom data, see docs/how-to/data.md")
    test: str | None = option(None, doc="another data set to test on, as data; by default the test part of data")
    test_share: float = option(
        0.0,
        doc="share of each client's training rows that is held out, the same rows in all runs, to test on in place of "
        "the test part of data, so that each client has test rows of its own; rounded down, and one row stays",
        low=0,
        below=1,
    )
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

    def __post_init__(self) -> None:
        if self.test and self.test_share:
            raise UserError("problem: give test or test_share, not both")

    @property
    def test_part_is_of_data(self) -> bool:
        """True if the test rows are those of the test part of ``data``."""
        return not self.test and not self.test_share

    def require_client_rows(self, part: str, by_owner: bool) -> None:
        """Raise UserError if clients share no rows, and yet have none of their own in a part.

        Args:
            part: ``train``, ``test`` or ``validation``.
            by_owner: Whether the training rows are split by the clients that the data name.
        """
        if part == "test" and not self.test_share and (self.test or not by_owner):
            raise rows_without_clients(part)

    @property
    def shares(self) -> dict[str, float]:
        """Share of each client's rows that is held out, by part, in the order in which it is."""
        return {"test": self.test_share, "validation": self.validation}


def rows_without_clients(part: str) -> UserError:
    """Return the error for metrics over clients on a part of which no client has rows of its own."""
    return UserError(
        f"metrics: the {part} rows belong to no clients, so that no client has a {part} metric of its own: give the "
        "problem a test_share, such as 0.2, or data that name the client of each test row"
    )


def hold_out(train: "Dataset", partition: "Partition | None", shares: Mapping[str, float]) -> HeldOut:
    """Hold out shares of each client's training rows, as test or validation part, one after the other.

    The rows depend on the arguments alone.

    Args:
        train: Training data.
        partition: Rows of each client, or None if all clients share all rows.
        shares: Share of each client's rows to hold out, by part, rounded down; at least one row of each client stays.

    Returns:
        The data, whose parts are the rows that are held out; the partition of the other rows; and that of each part,
        where there is one.

    Raises:
        UserError: A share is less than one row for all clients.
    """
    partitions: dict[str, Partition] = {}
    for part, share in shares.items():
        if not share:
            continue
        held_out = _draw_rows(train, partition, part, share)
        values: dict[str, Any] = {
            "X": train.X[~held_out],
            "y": train.y[~held_out],
            "owner": None if train.owner is None else train.owner[~held_out],
            f"X_{part}": train.X[held_out],
            f"y_{part}": train.y[held_out],
        }
        train = dataclasses.replace(train, **values)
        if partition is not None:
            partitions[part] = _restrict(partition, held_out)
            partition = _restrict(partition, ~held_out)
    return train, partition, partitions


def _draw_rows(train: "Dataset", partition: "Partition | None", part: str, share: float) -> np.ndarray:
    """Return whether each training row is held out, (samples,). Raises UserError if none is."""
    held_out = np.zeros(len(train.y), bool)
    client_rows = [np.arange(len(train.y))] if partition is None else map(partition.client, range(partition.clients))
    for client, rows in enumerate(client_rows):
        count = min(math.floor(share * len(rows) + 1e-9), len(rows) - 1)
        if count > 0:
            held_out[stream(0, part, client).choice(rows, count, replace=False)] = True
    if not held_out.any():
        key = "test_share" if part == "test" else part
        raise UserError(f"problem.{key}: {share:g} of each client's rows is less than one row; take a larger share")
    return held_out


def _restrict(partition: "Partition", rows: np.ndarray) -> "Partition":
    """Return the partition of the ``rows`` for which it is true, (samples,), numbered anew."""
    remains = rows[partition.order]
    offsets = np.concatenate([[0], np.cumsum(remains)])[partition.offsets]
    new_number = np.cumsum(rows) - 1
    order = new_number[partition.order[remains]]
    return dataclasses.replace(partition, samples=int(rows.sum()), order=order, offsets=offsets)
