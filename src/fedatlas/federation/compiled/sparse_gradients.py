"""Gradients and losses of logistic regression on all rows of CSR data, in three passes without temporary arrays.

Margins come from the rows, the gradient from the same entries by columns, so both passes read at random and write in
order. Between them a pass over vectors of rows takes the loss and its derivative. The sums over a column go to PARTS
partial sums in turn, and losses to as many as a vector has numbers; both are added in a fixed order.
"""

from typing import Any

import numpy as np

from fedatlas.federation.compiled.compilation import compile_in_turn
from fedatlas.federation.compiled.decorators import inline, kernel
from fedatlas.federation.compiled.scoring import WIDE, loss
from fedatlas.federation.compiled.simd import exp, load, pointer, splat, store, where_greater

PARTS = 4  # sums of a column at once, as an addition takes so many cycles
LARGEST = 700.0  # exponent, for which `exp` holds


@inline
def logistic(t, simd):
    """Return 1 / (1 + exp(-t)) of a vector of doubles; NaN stays so."""
    zero, largest = splat(0.0, simd), splat(LARGEST, simd)
    t = where_greater(t, zero - largest, t, zero - largest)
    negative = where_greater(zero - t, zero - largest, zero - t, zero - largest)
    one = splat(1.0, simd)
    return one / (one + exp(negative, simd))


@kernel
def pass_over(rows, columns, labels, weights, y, numbers, gradient, losses, simd):
    """Set the gradient of weighted losses, and add up the losses, sum_j weights_j log(1 + exp(-labels_j <a_j, y>)).

    Args:
        rows: Arrays indptr, indices and values of CSR data; no values if all are 1.
        columns: The same data by columns.
        labels: Labels (n,) in {-1, 1}, padded with zeros to a multiple of the width of ``simd``.
        weights: Weights of the losses, padded with zeros as well.
        y: Point (d,).
        numbers: Array to work in, as long as ``labels``.
        gradient: Gradient (d,), which is set.
        losses: Array as long as ``simd``, whose sum is that of the losses; empty if they are not wanted.
        simd: Tuple of doubles, whose length alone counts.
    """
    starts, indices, values, point = pointer(rows[0]), pointer(rows[1]), pointer(rows[2]), pointer(y)
    ones, t = not len(rows[2]), pointer(numbers)
    for j in range(len(rows[0]) - 1):
        z = 0.0
        if ones:
            for at in range(starts[j], starts[j + 1]):
                z += point[np.int64(indices[at])]
        else:
            for at in range(starts[j], starts[j + 1]):
                z += values[at] * point[np.int64(indices[at])]
        t[j] = z
    b, w, total = pointer(labels), pointer(weights), splat(0.0, simd)
    for j in range(0, len(labels), len(simd)):
        label, weight = load(b, j, simd), load(w, j, simd)
        margin = label * load(t, j, simd)
        if len(losses):
            total = total + weight * loss(margin, simd)
        zero = splat(0.0, simd)
        store(t, j, zero - weight * label * logistic(zero - margin, simd))
    if len(losses):
        store(pointer(losses), 0, total)
    starts, indices, values = pointer(columns[0]), pointer(columns[1]), pointer(columns[2])
    for k in range(len(y)):
        first, last = np.int64(starts[k]), np.int64(starts[k + 1])
        whole = first + (last - first) // PARTS * PARTS
        p, q, r, s = 0.0, 0.0, 0.0, 0.0
        if ones:
            for at in range(first, whole, PARTS):
                p += t[np.int64(indices[at])]
                q += t[np.int64(indices[at + 1])]
                r += t[np.int64(indices[at + 2])]
                s += t[np.int64(indices[at + 3])]
            for at in range(whole, last):
                p += t[np.int64(indices[at])]
        else:
            for at in range(first, whole, PARTS):
                p += values[at] * t[np.int64(indices[at])]
                q += values[at + 1] * t[np.int64(indices[at + 1])]
                r += values[at + 2] * t[np.int64(indices[at + 2])]
                s += values[at + 3] * t[np.int64(indices[at + 3])]
            for at in range(whole, last):
                p += values[at] * t[np.int64(indices[at])]
        gradient[k] = (p + q) + (r + s)


class SparseRows:
    """CSR features (n, d) in doubles, by rows and by columns.

    Args:
        A: Features.
    """

    def __init__(self, A: Any) -> None:
        A = A.tocsr()
        self.samples, self.dim = A.shape
        self.rows, self.columns = _arrays(A, self.dim), _arrays(A.tocsc(), self.samples)

    def weigh(self, b: np.ndarray, weights: np.ndarray) -> "WeightedRows":
        """Return the rows with labels b (n,) in {-1, 1} and weights (n,)."""
        return WeightedRows(self, b, weights)


class WeightedRows:
    """Weighted logistic losses of rows, sum_j w_j log(1 + exp(-b_j <a_j, y>)).

    Args:
        rows: Features.
        b: Labels (n,) in {-1, 1}.
        weights: Weights (n,).
    """

    def __init__(self, rows: SparseRows, b: np.ndarray, weights: np.ndarray) -> None:
        padding = -rows.samples % WIDE
        self.data = rows.rows, rows.columns, np.pad(b, (0, padding)), np.pad(weights, (0, padding))
        compile_in_turn(pass_over, self._arguments(np.zeros(rows.dim), 0))

    def _arguments(self, y: np.ndarray, losses: int) -> tuple[Any, ...]:
        return *self.data, y, np.zeros(len(self.data[2])), np.empty(len(y)), np.zeros(losses), (0.0,) * WIDE

    def gradient(self, y: np.ndarray) -> np.ndarray:
        """Return the gradient (d,) at y (d,)."""
        arguments = self._arguments(np.ascontiguousarray(y), 0)
        pass_over(*arguments)
        return arguments[6]

    def loss_and_gradient(self, y: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the weighted sum of the losses and its gradient (d,) at y (d,)."""
        arguments = self._arguments(np.ascontiguousarray(y), WIDE)
        pass_over(*arguments)
        return float(arguments[7].sum()), arguments[6]


def _arrays(A: Any, size: int) -> tuple[np.ndarray, ...]:
    """Return arrays indptr, indices below size in the smallest type, and values, none if all are 1, of compressed A."""
    return A.indptr, A.indices.astype(np.min_scalar_type(size - 1)), A.data[: 0 if (A.data == 1).all() else None]
