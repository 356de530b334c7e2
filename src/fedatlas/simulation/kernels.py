"""Compiled rounds of one-sample local steps on logistic data, for several step sizes at once.

Local steps that are linear in the state but for one gradient, z <- A z - b (x) g(c.z) with z = (z_1, .., z_p) of (d,)
vectors, split in two. The l2 term and the coupling act on every coordinate through one p x p matrix, B = A - l2 b c'.
The sample acts on the coordinates of its row. So a worker keeps u with z = P u, P = B^k: a step reads and writes only
the row's coordinates, with coefficients c'P and P^-1 b that are the same for all workers. P is folded into u before
its condition costs digits. Step sizes are lanes of the innermost axis: one pass over draws and rows serves all of them.
"""

import functools

import numpy as np
from numba import njit

from fedatlas.simulation.lanes import clamp, exp, load, pointer, prefetch, splat, store

LANES = 8  # step sizes of a pass; (d, 2, 8) doubles of a9a fill half a first-level cache
CONDITION = 1e4  # of P, beyond which it is folded into u: keeps about 12 of 16 digits
AHEAD = 6  # steps for which rows are fetched in advance: which ones come is known, where they lie is random


@njit(inline="always")
def slope(u, q, k, lo, hi, indices, values, label, vectors, lanes, dense):
    """Derivative of log(1 + exp(-b t)) at t = <a, c'P u>, the row's margin, in each lane."""
    p, n = len(vectors), len(lanes)
    t = splat(0.0, lanes)
    for at in range(lo, hi):
        i = at - lo if dense else indices[at]
        y = load(q, k * p * n, lanes) * load(u, i * p * n, lanes)
        for h in range(1, p):
            y = y + load(q, (k * p + h) * n, lanes) * load(u, (i * p + h) * n, lanes)
        t = t + splat(values[at], lanes) * y
    t = clamp(splat(label, lanes) * t, splat(-700.0, lanes), splat(700.0, lanes))
    return splat(-label, lanes) / (splat(1.0, lanes) + exp(t, lanes))


@njit(inline="always")
def subtract(u, r, k, lo, hi, indices, values, s, vectors, lanes, dense):
    """u <- u - s a r' on the row's coordinates."""
    p, n = len(vectors), len(lanes)
    for at in range(lo, hi):
        i = at - lo if dense else indices[at]
        a = splat(values[at], lanes) * s
        for h in range(p):
            to = (i * p + h) * n
            store(u, to, load(u, to, lanes) - a * load(r, (k * p + h) * n, lanes))


@njit(inline="always")
def apply(matrix, k, u, d, held, vectors, lanes):
    """u <- matrix u in every coordinate and lane."""
    p, n = len(vectors), len(lanes)
    for i in range(d):
        for h in range(p):
            store(held, h * n, load(u, (i * p + h) * n, lanes))
        for h in range(p):
            row = (k * p + h) * p * n
            y = load(matrix, row, lanes) * load(held, 0, lanes)
            for l in range(1, p):
                y = y + load(matrix, row + l * n, lanes) * load(held, l * n, lanes)
            store(u, (i * p + h) * n, y)


# No fastmath: the bits of a lane must depend neither on how many there are nor on the machine's vector units.
@njit(cache=True, error_model="numpy", nogil=True)
def sweep(rows, draws, weights, state, steps, touched, bad, vectors, lanes):
    """Rounds of all workers; changes state[0], the server's z, and bad.

    rows: indptr (empty if rows are dense), indices, values, labels. draws: (R, M, K) row numbers. weights: (M,) of
    workers, summing to 1. state: z (d, p, n), then two arrays like it and one (p, n) to work in. steps: q, r (K, p, n);
    fold (K,), whether maps[k] is applied to u in step k; maps (K, p, p, n); last (p, p, n), P after K steps; gain (n,),
    weight of the workers' mean in the new z. touched: whether only coordinates of drawn rows are put back. bad: (n,)
    first round with a number that is not finite, or -1. vectors, lanes: tuples of p and n integers, whose lengths the
    compiler knows.
    """
    p, n = len(vectors), len(lanes)
    R, M, K = draws.shape
    d, size, width, dense = state[0].shape[0], state[0].size, rows[2].size // rows[3].size, rows[0].size == 0
    indptr, indices, values, labels = pointer(rows[0]), pointer(rows[1]), pointer(rows[2]), pointer(rows[3])
    z, u, total, held = pointer(state[0]), pointer(state[1]), pointer(state[2]), pointer(state[3])
    q, r, maps, last, gain = (
        pointer(steps[0]),
        pointer(steps[1]),
        pointer(steps[3]),
        pointer(steps[4]),
        pointer(steps[5]),
    )
    fold, drawn, count = steps[2], pointer(draws), draws.size
    for t in range(R):
        for to in range(0, size, n):
            store(u, to, load(z, to, lanes))
            store(total, to, splat(0.0, lanes))
        for m in range(M):
            weight = splat(weights[m], lanes)
            first = (t * M + m) * K
            for k in range(K):
                j = drawn[first + k]
                if dense:
                    lo, hi = j * width, (j + 1) * width
                else:
                    lo, hi = indptr[j], indptr[j + 1]
                    prefetch(indptr, drawn[min(first + k + 2 * AHEAD, count - 1)])
                    soon = drawn[min(first + k + AHEAD, count - 1)]
                    prefetch(labels, soon)
                    prefetch(indices, indptr[soon])
                    prefetch(values, indptr[soon])
                    prefetch(values, indptr[soon] + 8)
                s = slope(u, q, k, lo, hi, indices, values, labels[j], vectors, lanes, dense)
                if K == 1:  # nobody reads the worker's u again: its change goes to the mean at once
                    subtract(total, r, 0, lo, hi, indices, values, weight * s, vectors, lanes, dense)
                else:
                    if fold[k]:
                        apply(maps, k, u, d, held, vectors, lanes)
                    subtract(u, r, k, lo, hi, indices, values, s, vectors, lanes, dense)
            if K > 1 and touched:
                for k in range(K):
                    for at in range(indptr[drawn[first + k]], indptr[drawn[first + k] + 1]):
                        for h in range(p):
                            to = (indices[at] * p + h) * n
                            start = load(z, to, lanes)
                            store(total, to, load(total, to, lanes) + weight * (load(u, to, lanes) - start))
                            store(u, to, start)
            elif K > 1:
                for to in range(0, size, n):
                    store(total, to, load(total, to, lanes) + weight * load(u, to, lanes))
                    store(u, to, load(z, to, lanes))
        if K == 1 or touched:
            if fold[0]:
                apply(maps, 0, u, d, held, vectors, lanes)
            for to in range(0, size, n):
                store(total, to, load(total, to, lanes) + load(u, to, lanes))
        apply(last, 0, total, d, held, vectors, lanes)
        check = splat(0.0, lanes)
        for to in range(0, size, n):
            old = load(z, to, lanes)
            new = old + load(gain, 0, lanes) * (load(total, to, lanes) - old)
            check = check + new
            store(z, to, new)
        store(held, 0, check)
        for e in range(n):
            if bad[e] < 0 and not np.isfinite(state[3].flat[e]):
                bad[e] = t


@functools.lru_cache(maxsize=4096)
def coefficients(A, b, c, K, l2):
    """q, r (K, p), fold (K,), maps (K, p, p) and last (p, p) of ``sweep`` for one recurrence, given as nested tuples.

    A lane's coefficients depend on nothing but its own recurrence.
    """
    A, b, c = np.array(A), np.array(b), np.array(c)
    p = len(c)
    B = A - l2 * np.outer(b, c)
    P = np.eye(p)
    q, r = np.zeros((K, p)), np.zeros((K, p))
    fold, maps = np.zeros(K, np.bool_), np.broadcast_to(np.eye(p), (K, p, p)).copy()
    for k in range(K):
        q[k] = c @ P
        P = B @ P
        if _spread(P) > CONDITION or (k == 0 and K == 1):
            fold[k], maps[k], P = True, P, np.eye(p)
        r[k] = np.linalg.solve(P, b)
    return q, r, fold, maps, P


def _spread(P):
    """How far P or its inverse enlarges: that much precision u loses."""
    values = np.linalg.svd(P, compute_uv=False)
    return max(values[0], 1.0) / min(values[-1], 1.0) if values[-1] > 0 else np.inf
