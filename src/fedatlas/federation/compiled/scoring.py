"""Mean losses and accuracies of logistic regression on CSR rows, at several points in one pass over the rows.

SIMD vectors hold a number for each of several points, the innermost axis of all arrays. The entries of a row are added
in their order, and rows in blocks of a fixed size, so a point has the same bits alone or with others.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from fedatlas.federation.compiled.compilation import compile_in_turn
from fedatlas.federation.compiled.decorators import inline, kernel
from fedatlas.federation.compiled.simd import clamp, exp, fma, load, pointer, splat, store, where_greater

WIDTHS = (1, 8, 16)  # points of a pass
WIDE = 8  # numbers of a vector where points need not be told apart
BLOCK = 64  # rows whose losses are added up before those of others
SERIES = tuple(1 / (2 * k + 1) for k in range(10, 0, -1))  # of atanh, beside its first term; the rest is below 1e-17


@inline
def log1p(u, simd):
    """Return log(1 + u) of a vector of doubles 0 <= u <= 1, to two units in the last place."""
    one, root = splat(1.0, simd), splat(math.sqrt(2) - 1, simd)
    # log(1 + u) = log(c) + 2 atanh(s), where c is 1, or 2 beyond the square root of 2, so that s is at most 0.18
    s = where_greater(u, root, u - one, u) / where_greater(u, root, u + splat(3.0, simd), u + splat(2.0, simd))
    square, series = s * s, splat(1 / 21, simd)
    for k in range(1, len(SERIES)):
        series = fma(series, square, splat(SERIES[k], simd))
    twice = s + s
    return where_greater(u, root, splat(math.log(2), simd), splat(0.0, simd)) + fma(twice * square, series, twice)


@inline
def loss(margin, simd):
    """Return log(1 + exp(-margin)) of a vector of doubles; NaN stays so."""
    zero = splat(0.0, simd)
    negative = zero - margin
    least = where_greater(margin, zero, negative, margin)
    u = exp(clamp(least, splat(-700.0, simd), zero), simd)
    return where_greater(negative, zero, negative, zero) + log1p(u, simd)


@kernel
def add_scores(rows, weights, points, margins, sums, simd, wide, ones):
    """Add up the losses of blocks of rows, and how many of them are classified correctly.

    Args:
        rows: Arrays indptr, indices, values and labels of CSR data.
        weights: Weights of the losses (rows,), or empty for 1. Rows of weight 0 are not counted.
        points: Flat array, (d, n).
        margins: Flat array to work in, (BLOCK, n), padded to a multiple of WIDE.
        sums: Losses and counts, (2, blocks, n), which are set.
        simd, wide, ones: Tuples of doubles, whose lengths alone count, since the compiler knows them: n; WIDE; empty
            unless all values are 1 and left out.
    """
    n, samples = len(simd), len(rows[3])
    indptr, indices, values, labels = pointer(rows[0]), pointer(rows[1]), pointer(rows[2]), pointer(rows[3])
    x, t, losses, counts = pointer(points), pointer(margins), pointer(sums[0]), pointer(sums[1])
    zero, one = splat(0.0, simd), splat(1.0, simd)
    for block in range(sums.shape[1]):
        first = block * BLOCK
        size = min(BLOCK, samples - first)
        count = zero
        for w in range(size):
            j = first + w
            z = zero
            for at in range(indptr[j], indptr[j + 1]):
                y = load(x, np.int64(indices[at]) * n, simd)
                z = z + y if len(ones) else z + splat(values[at], simd) * y
            label = splat(labels[j], simd)
            store(t, w * n, label * z)
            if not len(weights) or weights[j] != 0:
                positive = where_greater(zero, zero - z, one, zero)  # where z is NaN, it is not positive
                count = count + where_greater(label, zero, positive, one - positive)
        store(counts, block * n, count)
        for to in range(0, size * n, len(wide)):
            store(t, to, loss(load(t, to, wide), wide))
        total = zero
        for w in range(size):
            part = load(t, w * n, simd)
            total = total + (splat(weights[first + w], simd) * part if len(weights) else part)
        store(losses, block * n, total)


def mean_scores(rows: tuple[np.ndarray, ...], weights: np.ndarray, points: Sequence[Any]) -> tuple[np.ndarray, ...]:
    """Return the mean losses and the accuracies of rows at k points, (k,) each.

    Args:
        rows: Arrays indptr, indices, values (empty if all are 1) and labels (n,) in {-1, 1} of CSR data.
        weights: Weights of the losses (n,), or empty for 1. Rows of weight 0 do not count for accuracies.
        points: Points (d,), k of them.
    """
    parts = [_sums(rows, weights, points[k : k + WIDTHS[-1]]) for k in range(0, len(points), WIDTHS[-1])]
    losses, counts = np.concatenate(parts, axis=1)
    samples = len(rows[3])
    return losses / samples, counts / (np.count_nonzero(weights) if len(weights) else samples)


def _sums(rows: tuple[np.ndarray, ...], weights: np.ndarray, points: Sequence[Any]) -> np.ndarray:
    """Return the sums of losses, and counts, at no more points than a pass has: (2, k)."""
    n = next(count for count in WIDTHS if count >= len(points))
    columns = np.stack([*points, *[points[-1]] * (n - len(points))], axis=-1, dtype=np.float64)
    sums = np.empty((2, -(-len(rows[3]) // BLOCK), n))
    form: tuple[tuple[float, ...], ...] = ((0.0,) * n, (0.0,) * WIDE, (0.0,) * (not rows[2].size))
    arguments = rows, weights, columns.ravel(), np.zeros(BLOCK * n), sums, *form
    compile_in_turn(add_scores, arguments)
    add_scores(*arguments)
    return np.ascontiguousarray(sums.transpose(0, 2, 1)).sum(axis=-1)[:, : len(points)]
