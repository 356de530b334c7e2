"""Plain arrays as the data of a problem: features, labels, weights, and whose rows are whose."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from fedatlas.errors import UserError
from fedatlas.federation.partitions.partition import Partition

ClientRows: TypeAlias = Partition | Sequence[ArrayLike] | None  # of rows: what a problem's ``partition`` may be


def as_array(what: str, given: Any) -> np.ndarray:
    """What is given as an array. what: for the sentence. Raises UserError where lists in it differ in length."""
    try:
        return np.asarray(given)
    except ValueError as error:
        raise UserError(f"{what}: there is no such array ({error})") from None


def as_features(A: Any, width: int | None = None) -> Any:
    """A table of numbers (n, p), dense or sparse. width: p, where it is known. Raises UserError if it is none."""
    table = A if sparse.issparse(A) else as_array("the features", A)
    if table.ndim != 2 or table.dtype.kind not in "biuf" or not table.shape[0]:
        shown = f"an array of shape {table.shape} and type {table.dtype}"
        raise UserError(f"the features are {shown}; they must be a table of numbers (rows, features)")
    if width is not None and table.shape[1] != width:
        raise UserError(f"these rows have {table.shape[1]} features, and the training rows {width}")
    return table


def as_labels(y: ArrayLike, samples: int, classes: int | None = None) -> tuple[np.ndarray, int]:
    """Labels (samples,) as whole numbers from 0, and the number of classes.

    classes: by default one more than the largest label. Raises UserError on other labels, with what to do.
    """
    found = as_array("the labels", y)
    if found.shape != (samples,):
        raise UserError(f"there are {samples} rows, and labels of shape {found.shape}; each row needs one label")
    if found.dtype.kind == "b" or (found.dtype.kind == "f" and np.isfinite(found).all() and (found % 1 == 0).all()):
        found = found.astype(np.int64)
    if found.dtype.kind not in "iu":
        raise UserError(
            f"labels must be whole numbers from 0, and not such as {found[0]!r}: take "
            "np.unique(y, return_inverse=True)[1]"
        )
    low, high = int(found.min()), int(found.max())
    count = high + 1 if classes is None else int(classes)
    if low < 0 or high >= count:
        raise UserError(
            f"labels lie between {low} and {high}; of {count} classes they must lie between 0 and {count - 1}"
        )
    return found, count


def as_evaluation_data(given: Any, width: int) -> tuple[Any, np.ndarray] | None:
    """Features and labels of rows that train nothing, or None. width: features. Raises UserError if they do not fit."""
    return None if given is None else (as_features(given[0], width), np.asarray(given[1]))


def as_partition(given: ClientRows, samples: int) -> Partition | None:
    """The partition that is given, as a Partition or as a list of the rows of each client, or None.

    samples: rows of the data. Raises UserError on rows that there are not, a row of two clients, and a client without
    rows.
    """
    if given is None:
        return None
    if isinstance(given, Partition):
        if given.samples != samples:
            raise UserError(f"the partition splits {given.samples:,} rows, and the data have {samples:,}")
        return given
    if isinstance(given, (str, bytes, dict)) or not isinstance(given, (Sequence, np.ndarray)) or not len(given):
        raise UserError(f"partition is {given!r:.60}; it must be a Partition, or a list with the rows of each client")
    owned = [as_array(f"partition: the rows of client {client}", each) for client, each in enumerate(given)]
    for client, each in enumerate(owned):
        if each.ndim != 1 or not len(each) or each.dtype.kind not in "iu":
            raise UserError(f"partition: client {client} has {given[client]!r:.60}; it must have a list of row numbers")
        if each.min() < 0 or each.max() >= samples:
            raise UserError(f"partition: client {client} has a row that does not exist; rows are 0 to {samples - 1}")
    order = np.concatenate(owned).astype(np.int64)
    rows, counts = np.unique(order, return_counts=True)
    if (counts > 1).any():
        raise UserError(f"partition: row {rows[counts > 1][0]} is given twice; a row belongs to one client")
    offsets = np.concatenate([[0], np.cumsum([len(each) for each in owned])])
    return Partition("given", 0, {}, len(owned), samples, order, offsets)


def as_sample_weights(given: ArrayLike, samples: int) -> np.ndarray:
    """Weights of rows (samples,), scaled to the mean 1. Raises UserError unless they are at least 0, and not all 0."""
    found = as_array("sample_weight", given)
    found = found.astype(np.float64) if found.dtype.kind in "biuf" else np.full(1, np.nan)
    if found.shape != (samples,) or not np.isfinite(found).all() or (found < 0).any() or not found.any():
        raise UserError(f"sample_weight must be {samples} finite numbers of at least 0, of which one is larger")
    return found / found.mean()


def loss_factors(mass: np.ndarray, split: Partition | None, by_size: np.ndarray | None) -> np.ndarray | None:
    """What makes weighted sums of clients' rows their objectives: factors (clients, 1), or None for 1.

    mass: (samples,) weights of mean 1. by_size: those factors for weights of 1 where clients count by their size, or
    None where they count alike. Raises UserError if the rows of a client all have weight 0.
    """
    if split is None:
        return None
    totals = np.array([mass[split.client(i)].sum() for i in range(split.clients)])
    if (totals == 0).any():
        raise UserError(f"sample_weight: all rows of client {int(np.argmin(totals))} have weight 0")
    if by_size is not None:
        return by_size * (split.sizes.sum() / totals.sum())
    return (split.sizes / totals)[:, None]


def as_start(given: ArrayLike, dim: int) -> np.ndarray:
    """A point (dim,). Raises UserError if it is none."""
    found = as_array("start", given)
    if found.shape != (dim,) or found.dtype.kind not in "biuf":
        raise UserError(f"start has shape {found.shape}; it must be {dim} numbers")
    return found
