"""The weights of clients and of their rows in the objective F, the mean of the clients' objectives f_i."""

from typing import TYPE_CHECKING, Literal

import numpy as np

from fedatlas.errors import UserError

if TYPE_CHECKING:
    from fedatlas.federation.partitions.base import Split
    from fedatlas.federation.partitions.partition import Partition

Weights = Literal["equal", "size"]
WEIGHTS_DOC = (
    "equal: a client's objective is the mean loss of its samples; size: that mean times n m_i / M, for n clients of "
    "which this one has m_i of M samples, so that the plain mean over clients is the mean over all samples (FedRed, "
    "Section 5)"
)


def loss_factors(
    weights: Weights, partition: "Partition | None", sample_weight: np.ndarray | None = None
) -> np.ndarray | None:
    """Return the factors (clients,) of the mean losses of clients' rows in f_i; None if all are 1.

    Args:
        weights: Whether clients count equally or by their size.
        partition: Rows of each client, or None if every client draws from all rows.
        sample_weight: Weights of the rows' losses, (samples,), of mean 1, or None for 1.

    Raises:
        UserError: All rows of a client have weight 0.
    """
    if partition is None:
        return None
    sizes = partition.sizes
    by_size = len(sizes) / sizes.sum() * sizes if weights == "size" else None
    if sample_weight is None:
        return by_size
    totals = np.array([sample_weight[partition.client(i)].sum() for i in range(partition.clients)])
    if (totals == 0).any():
        raise UserError(f"sample_weight: all rows of client {int(np.argmin(totals))} have weight 0")
    return sizes / totals if by_size is None else by_size * (sizes.sum() / totals.sum())


def row_weights(
    weights: Weights, samples: int, partition: "Partition | None", sample_weight: np.ndarray | None = None
) -> np.ndarray | None:
    """Return the weights w (samples,) with which F is mean_j w_j loss_j over all rows; None if all are 1.

    Rows that no client has weigh 0. Arguments are those of `loss_factors`, and the number of rows.
    """
    if partition is None:
        return sample_weight
    alike = weights == "size" or (sample_weight is None and np.ptp(partition.sizes) == 0)
    if alike and partition.sizes.sum() == samples:  # the mean over all rows, to the bit
        return sample_weight
    factors = loss_factors(weights, partition, sample_weight)
    per_row = samples / partition.clients / partition.sizes * (1 if factors is None else factors)
    rows = np.zeros(samples)
    rows[partition.order] = np.repeat(per_row, partition.sizes)
    return rows if sample_weight is None else rows * sample_weight


def is_pooled(weights: Weights, split: "Split", samples: int, clients: int) -> bool:
    """Return whether F is the mean over all rows however a kind of partition splits them.

    Args:
        weights: Whether clients count equally or by their size.
        split: Kind of partition.
        samples: Number of rows.
        clients: Number of clients.
    """
    return split.complete and (weights == "size" or split.balanced(samples, clients))
