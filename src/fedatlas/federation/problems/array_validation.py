"""Validation of plain arrays that are the data of a problem: features, labels, weights and the rows of each client."""

from collections.abc import Sequence, Sized
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from fedatlas.errors import UserError
from fedatlas.federation.partitions.partition import Partition

ClientRows: TypeAlias = Partition | Sequence[ArrayLike] | None  # the argument ``partition`` of problems


def as_array(name: str, values: Any) -> np.ndarray:
    """Return values as an array.

    Args:
        name: Name of the values in error messages.
        values: Array, or nested lists.

    Raises:
        UserError: Lists differ in length.
    """
    try:
        return np.asarray(values)
    except ValueError as error:
        raise UserError(f"{name}: there is no such array ({error})") from None


def as_features(A: Any, width: int | None = None) -> Any:
    """Return features as an array (n, p), dense or sparse.

    Args:
        A: Features.
        width: Number p of features that is expected, or None for any.

    Raises:
        UserError: A is not a table of finite numbers, has no rows, or has another number of features.
    """
    table = A if sparse.issparse(A) else as_array("the features", A)
    if table.ndim != 2 or table.dtype.kind not in "biuf" or not table.shape[0]:
        raise UserError(
            f"the features are an array of shape {table.shape} and type {table.dtype}; they must be a table of numbers "
            "(rows, features)"
        )
    if width is not None and table.shape[1] != width:
        raise UserError(f"these rows have {table.shape[1]} features, and the training rows {width}")
    require_finite(table)
    return table


def require_finite(table: Any, entry: str = "feature") -> None:
    """Raise UserError if an entry, such as a feature, of an array, dense or sparse, is NaN or infinite."""
    values = table.data if sparse.issparse(table) else table
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        rows = np.flatnonzero(~np.isfinite(abs(table).sum(axis=tuple(range(1, table.ndim)))))
        raise UserError(f"row {rows[0]} has a {entry} that is NaN or infinite: drop such rows, or fill them")


def as_labels(y: ArrayLike, samples: int, classes: int | None = None) -> tuple[np.ndarray, int]:
    """Return labels as whole numbers from 0, (samples,), and the number of classes.

    Args:
        y: Labels.
        samples: Number of rows of the features.
        classes: Number of classes; by default one more than the largest label.

    Raises:
        UserError: The labels do not fit; the message says what to do.
    """
    labels = as_array("the labels", y)
    if labels.shape != (samples,):
        raise UserError(f"there are {samples} rows, and labels of shape {labels.shape}; each row needs one label")
    if labels.dtype.kind == "b" or (labels.dtype.kind == "f" and np.isfinite(labels).all() and (labels % 1 == 0).all()):
        labels = labels.astype(np.int64)
    if labels.dtype.kind not in "iu":
        raise UserError(
            f"labels must be whole numbers from 0, and not such as {labels[0]!r}: take "
            "np.unique(y, return_inverse=True)[1]"
        )
    low, high = int(labels.min()), int(labels.max())
    count = high + 1 if classes is None else int(classes)
    if low < 0 or high >= count:
        raise UserError(
            f"labels lie between {low} and {high}; of {count} classes they must lie between 0 and {count - 1}"
        )
    return labels, count


def as_targets(y: ArrayLike, samples: int) -> np.ndarray:
    """Return labels that need be no classes as numbers (samples, ...). Raises UserError if they do not fit."""
    targets = as_array("the labels", y)
    if targets.shape[:1] != (samples,) or targets.dtype.kind not in "biuf":
        raise UserError(
            f"there are {samples} rows, and labels of shape {targets.shape} and type {targets.dtype}; they must be "
            f"numbers ({samples}, ...)"
        )
    require_finite(targets, "label")
    return targets


def as_evaluation_data(data: Any, width: int) -> tuple[Any, np.ndarray] | None:
    """Return features and labels of test or validation rows, or None for None.

    Args:
        data: Pair of features and labels, or None.
        width: Number of features of the training rows.

    Raises:
        UserError: The features do not fit.
    """
    if data is None:
        return None
    X, y = as_pair(data)
    return as_features(X, width), np.asarray(y)


def as_pair(data: Any) -> tuple[Any, Any]:
    """Return features and labels. Raises UserError if data are not a pair."""
    if not isinstance(data, (tuple, list)) or len(data) != 2:
        raise UserError(f"data are {data!r:.60}; they must be a pair (X, y) of features and labels")
    X, y = data
    return X, y


def as_partition(rows: ClientRows, samples: int) -> Partition | None:
    """Return the rows of each client as a Partition, or None for None.

    Args:
        rows: A Partition, a list with the rows of each client, or None.
        samples: Number of rows of the data.

    Raises:
        UserError: A row does not exist or belongs to two clients, or a client has no rows.
    """
    if rows is None:
        return None
    if isinstance(rows, Partition):
        if rows.samples != samples:
            raise UserError(f"the partition splits {rows.samples:,} rows, and the data have {samples:,}")
        return rows
    if isinstance(rows, (str, bytes, dict)) or not isinstance(rows, (Sequence, np.ndarray)) or not len(rows):
        raise UserError(f"partition is {rows!r:.60}; it must be a Partition, or a list with the rows of each client")
    client_rows = [as_array(f"partition: the rows of client {client}", index) for client, index in enumerate(rows)]
    for client, index in enumerate(client_rows):
        if index.ndim != 1 or not len(index) or index.dtype.kind not in "iu":
            raise UserError(f"partition: client {client} has {rows[client]!r:.60}; it must have a list of row numbers")
        if index.min() < 0 or index.max() >= samples:
            raise UserError(f"partition: client {client} has a row that does not exist; rows are 0 to {samples - 1}")
    order = np.concatenate(client_rows).astype(np.int64)
    numbers, counts = np.unique(order, return_counts=True)
    if (counts > 1).any():
        raise UserError(f"partition: row {numbers[counts > 1][0]} is given twice; a row belongs to one client")
    offsets = np.concatenate([[0], np.cumsum([len(index) for index in client_rows])])
    return Partition("given", 0, {}, len(client_rows), samples, order, offsets)


def as_test_rows(rows: ClientRows, labels: Sized | None, train: Partition | None) -> dict[str, Partition]:
    """Return the test rows of each client as the problem's ``part_rows``, empty for None.

    Args:
        rows: As of `as_partition`.
        labels: Labels of the test rows, or None if there are none.
        train: Partition of the training rows.

    Raises:
        UserError: The rows do not fit, or not the training rows' clients.
    """
    if rows is None:
        return {}
    if labels is None or train is None:
        raise UserError("test_partition: give test and partition too, whose clients it is for")
    partition = as_partition(rows, len(labels))
    if partition is None or partition.clients != train.clients:
        raise UserError(f"test_partition must have test rows for each of the {train.clients} clients of partition")
    return {"test": partition}


def as_start(values: ArrayLike, dim: int) -> np.ndarray:
    """Return a start as an array (dim,). Raises UserError if it is none."""
    start = as_array("start", values)
    if start.shape != (dim,) or start.dtype.kind not in "biuf":
        raise UserError(f"start has shape {start.shape}; it must be {dim} numbers")
    return start
