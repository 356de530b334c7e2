"""Compiled rounds of one-sample local steps on logistic data, for several step sizes at once.

Local steps are linear in the state except for one gradient: z <- A z - b (x) g(c.z) with z = (z_1, .., z_p) of (d,)
vectors. Such a step has two parts. The l2 term and the coupling act on every coordinate through one p x p matrix,
B = A - l2 b c'. The sample acts on the coordinates of its row. So a worker keeps u with z = P u, P = B^k: a step reads
and writes only the row's coordinates, with coefficients c'P and P^-1 b that are the same for all workers. P is
multiplied into u before its condition number costs digits. SIMD vectors hold a number for each of several step sizes,
the innermost axis of all arrays: one pass over draws and rows serves all of them.

``together`` is for rounds of one step, where the server's z itself is kept as P u; ``apart`` and ``abreast`` are for
rounds of several. In ``together`` no margin depends on another, so the derivatives of the loss of several workers are
computed as one vector. With one step size ``abreast`` does the same: WIDE workers take a step before the next, each on
its own u, so that the processor need not wait for the sums of one of them.
"""

import functools

import numpy as np

from fedatlas.federation.compiled.decorators import inline, kernel
from fedatlas.federation.compiled.simd import (
    clamp,
    exp,
    fma,
    load,
    offset,
    pointer,
    prefetch,
    splat,
    store,
    summed,
    tiled,
)

WIDTHS = (1, 8, 16)  # step sizes of a pass: (d, 2, 16) doubles of a9a fill a first-level cache
WIDE = 8  # numbers of a vector where step sizes need not be told apart; arrays are padded to a multiple
DERIVATIVES = 16  # of the loss that are computed together in rounds of one step
CONDITION = 1e4  # of P, beyond which it is folded into u: keeps about 12 of 16 digits
PERIOD = 256  # rounds of one step after which P is folded in any case, so that coefficients repeat
PART = 2048  # worker steps, and SPREAD for each coordinate, that have a sum of their own; at most PARTS in a round
SPREAD = 16
PARTS = 8
NEAR = 1 << 13  # numbers of vectors u between which workers may take turns: 64 KiB, near in a second-level cache
AHEAD = 6  # rows that are fetched in advance: which ones come is known, where they lie is random


@inline
def bounds(j, indptr, width, dense):
    """Return where row j begins and ends in the arrays of entries."""
    return (j * width, (j + 1) * width) if len(dense) else (np.int64(indptr[j]), np.int64(indptr[j + 1]))


@inline
def fetch(row_numbers, soon, later, count, indptr, indices, values, labels, ones):
    """Prefetch the sparse row of draw ``soon``, and where that of draw ``later`` lies."""
    prefetch(indptr, row_numbers[min(later, count - 1)])
    j = row_numbers[min(soon, count - 1)]
    prefetch(labels, j)
    prefetch(indices, indptr[j])
    if not len(ones):
        prefetch(values, indptr[j])
        prefetch(values, indptr[j] + 8)


@inline
def position(at, lo, indices, all_sizes, dense):
    """Return where the coordinate of a row's entry lies in u."""
    return (at - lo if len(dense) else np.int64(indices[at])) * len(all_sizes)


@inline
def plus(t, u, at, lo, indices, values, all_sizes, dense, ones):
    """Return t plus an entry of a row times its coordinate of u."""
    y = load(u, position(at, lo, indices, all_sizes, dense), all_sizes)
    return t + y if len(ones) else fma(splat(values[at], all_sizes), y, t)


@inline
def margin(u, q, k, lo, hi, indices, values, label, simd, all_sizes, dense, ones):
    """Return the margin b <a, c'P u> of the row a with label b, for each step size."""
    even, odd = splat(0.0, all_sizes), splat(0.0, all_sizes)
    if len(all_sizes) == len(simd):  # two sums, so that an addition need not wait for the last one
        for at in range(lo, hi - 1, 2):
            even = plus(even, u, at, lo, indices, values, all_sizes, dense, ones)
            odd = plus(odd, u, at + 1, lo, indices, values, all_sizes, dense, ones)
        if (hi - lo) % 2:
            even = plus(even, u, hi - 1, lo, indices, values, all_sizes, dense, ones)
        even = even + odd
    else:  # of several vectors there are as many sums
        for at in range(lo, hi):
            even = plus(even, u, at, lo, indices, values, all_sizes, dense, ones)
    return splat(label, simd) * summed(load(q, k * len(all_sizes), all_sizes) * even, simd)


@inline
def sigmoid(t, simd):
    """Return 1 / (1 + exp(t))."""
    ones = splat(1.0, simd)
    return ones / (ones + exp(clamp(t, splat(-700.0, simd), splat(700.0, simd)), simd))  # beyond 700, exp overflows


@inline
def add(u, r, k, lo, hi, indices, values, s, all_sizes, dense, ones):
    """Set u <- u + s a r' on the row's coordinates."""
    step = tiled(s, all_sizes) * load(r, k * len(all_sizes), all_sizes)
    for at in range(lo, hi):
        i = position(at, lo, indices, all_sizes, dense)
        old = load(u, i, all_sizes)
        store(u, i, old + step if len(ones) else fma(splat(values[at], all_sizes), step, old))


@inline
def apply(matrix, k, u, d, held, simd, all_sizes):
    """Set u <- matrix u in every coordinate, for each step size."""
    p, n = len(all_sizes) // len(simd), len(simd)
    for i in range(0, d * p * n, p * n):
        for h in range(p):
            store(held, h * n, load(u, i + h * n, simd))
        for h in range(p):
            row = (k * p + h) * p * n
            y = load(matrix, row, simd) * load(held, 0, simd)
            for l in range(1, p):
                y = fma(load(matrix, row + l * n, simd), load(held, l * n, simd), y)
            store(u, i + h * n, y)


@inline
def addresses(steps):
    """Return the addresses of the arrays q, r, maps, last and gain of rounds of several steps."""
    return pointer(steps[0]), pointer(steps[1]), pointer(steps[3]), pointer(steps[4]), pointer(steps[5])


@inline
def close(z, total, size, parts, touched, last, gain, d, held, simd, all_sizes, wide):
    """Add up the sums of the parts of a round, or of changes where touched, and move the server's z to the mean."""
    for to in range(0, size, len(wide)):
        sums = load(total, to, wide)
        for part in range(1, parts):
            sums = sums + load(total, part * size + to, wide)
        if touched:  # the weights add up to 1
            sums = sums + load(z, to, wide)
        store(total, to, sums)
    apply(last, 0, total, d, held, simd, all_sizes)
    for to in range(0, d * len(all_sizes), len(simd)):
        old = load(z, to, simd)
        store(z, to, fma(load(gain, 0, simd), load(total, to, simd) - old, old))


# No fastmath: a step size's bits must depend neither on how many there are nor on the machine's vector units.
@kernel
def together(rows, draws, weights, state, steps, touched, simd, all_sizes, wide, dense, ones):
    """Run rounds of one step, which change state[0], the server's z.

    Args:
        rows: Arrays of ``Logistic.one_sample_rows``.
        draws: Row numbers, (R, M).
        weights: Weights of workers, (M,), of sum 1.
        state: Flat arrays, padded with zeros: z (d, p, n); zeros of the same size for the workers' sum; (p, n) to work
            in; derivatives of the loss of some workers, (workers, n).
        steps: q, r (L, p, n) for rounds modulo L; fold (L,), whether maps (L, p, p, n) are applied to u in a round;
            after (L, p, p, n), P after the round.
        touched: Whether only coordinates of rows of the round are visited.
        simd, all_sizes, wide, dense, ones: Tuples of doubles, whose lengths alone count, since the compiler knows them:
            n, p n, WIDE; dense is empty unless rows are dense, ones unless all values are 1 and left out.
    """
    p, n = len(all_sizes) // len(simd), len(simd)
    R, M = draws.shape
    size, workers, count = state[0].size, state[3].size // n, draws.size
    width, L = rows[2].size // rows[3].size, len(steps[2])
    d = size // (p * n)
    indptr, indices, values, labels = pointer(rows[0]), pointer(rows[1]), pointer(rows[2]), pointer(rows[3])
    u, total, held, derivatives = pointer(state[0]), pointer(state[1]), pointer(state[2]), pointer(state[3])
    q, r, maps, after = pointer(steps[0]), pointer(steps[1]), pointer(steps[3]), pointer(steps[4])
    fold, row_numbers = steps[2], pointer(draws)
    for t in range(R):
        k = t % L
        for m in range(0, M, workers):
            block = min(workers, M - m)
            # First the margins of a block of workers, whose derivatives are then computed as one long vector; then the
            # rows are read again, from the cache, to add the gradients up. Workers are added in their order.
            for w in range(block):
                at = t * M + m + w
                j = row_numbers[at]
                lo, hi = bounds(j, indptr, width, dense)
                if not len(dense):
                    fetch(row_numbers, at + AHEAD, at + 2 * AHEAD, count, indptr, indices, values, labels, ones)
                y = margin(u, q, k, lo, hi, indices, values, labels[j], simd, all_sizes, dense, ones)
                store(derivatives, w * n, y)
            for to in range(0, block * n, len(wide)):
                store(derivatives, to, sigmoid(load(derivatives, to, wide), wide))
            for w in range(block):
                j = row_numbers[t * M + m + w]
                lo, hi = bounds(j, indptr, width, dense)
                s = splat(labels[j] * weights[m + w], simd) * load(derivatives, w * n, simd)
                add(total, r, k, lo, hi, indices, values, s, all_sizes, dense, ones)
        if fold[k]:
            apply(maps, k, u, d, held, simd, all_sizes)
        if touched:  # a coordinate of several rows is added once, since its sum is 0 afterwards
            for at in range(t * M, (t + 1) * M):
                for e in range(indptr[row_numbers[at]], indptr[row_numbers[at] + 1]):
                    for to in range(indices[e] * p * n, (indices[e] + 1) * p * n, n):
                        store(u, to, load(u, to, simd) + load(total, to, simd))
                        store(total, to, splat(0.0, simd))
        else:
            for to in range(0, size, len(wide)):
                store(u, to, load(u, to, wide) + load(total, to, wide))
                store(total, to, splat(0.0, wide))
    apply(after, (R - 1) % L, u, d, held, simd, all_sizes)


@kernel
def apart(rows, draws, weights, state, steps, parts, touched, simd, all_sizes, wide, dense, ones):
    """Run rounds of K steps, which change state[0], the server's z.

    The workers of a round are cut into parts, each with a sum of its own; these are added in their order. Threads
    compute parts of one round at the same time, each with vectors u and (p, n) to work in of its own, and then one of
    them finishes the round.

    As ``together``, but for: draws (R, M, K); state: z, sums of the parts, (p, n) to work in, and a worker's u; steps:
    q, r (K, p, n), fold (K,), maps (K, p, p, n), last (p, p, n), P after K steps, and gain (n,), weight of the workers'
    mean in the new z; parts: the first part that is computed, the end, the number of all, and whether to finish.
    """
    p, n = len(all_sizes) // len(simd), len(simd)
    R, M, K = draws.shape
    size, count = state[0].size, draws.size
    width = rows[2].size // rows[3].size
    d = size // (p * n)
    indptr, indices, values, labels = pointer(rows[0]), pointer(rows[1]), pointer(rows[2]), pointer(rows[3])
    z, total, held, u = pointer(state[0]), pointer(state[1]), pointer(state[2]), pointer(state[3])
    q, r, maps, last, gain = addresses(steps)
    fold, row_numbers = steps[2], pointer(draws)
    begin, end, all_parts, finish = parts
    for t in range(R):
        for part in range(begin, end):
            into = part * size
            for to in range(0, size, len(wide)):
                store(u, to, load(z, to, wide))
                store(total, into + to, splat(0.0, wide))
            for m in range(part * M // all_parts, (part + 1) * M // all_parts):
                first = (t * M + m) * K
                for k in range(K):
                    at = first + k
                    j = row_numbers[at]
                    lo, hi = bounds(j, indptr, width, dense)
                    if not len(dense):
                        fetch(row_numbers, at + AHEAD, at + 2 * AHEAD, count, indptr, indices, values, labels, ones)
                    y = margin(u, q, k, lo, hi, indices, values, labels[j], simd, all_sizes, dense, ones)
                    if fold[k]:
                        apply(maps, k, u, d, held, simd, all_sizes)
                    s = splat(labels[j], simd) * sigmoid(y, simd)
                    add(u, r, k, lo, hi, indices, values, s, all_sizes, dense, ones)
                if touched:  # add the worker's change where its rows are not 0, and return u to z there
                    weight = splat(weights[m], simd)
                    for at in range(first, first + K):
                        for e in range(indptr[row_numbers[at]], indptr[row_numbers[at] + 1]):
                            for to in range(indices[e] * p * n, (indices[e] + 1) * p * n, n):
                                start = load(z, to, simd)
                                change = fma(weight, load(u, to, simd) - start, load(total, into + to, simd))
                                store(total, into + to, change)
                                store(u, to, start)
                else:
                    share = splat(weights[m], wide)
                    for to in range(0, size, len(wide)):
                        store(total, into + to, fma(share, load(u, to, wide), load(total, into + to, wide)))
                        store(u, to, load(z, to, wide))
        if finish:
            close(z, total, size, all_parts, touched, last, gain, d, held, simd, all_sizes, wide)


@kernel
def abreast(rows, draws, weights, state, steps, parts, simd, all_sizes, wide, dense, ones):
    """Run rounds of K steps with one step size, which change state[0], the server's z, as ``apart`` does.

    A block of WIDE workers takes each step before the next. Sums have the same bits: workers are added in their order.

    As ``apart``, but for state: in place of a worker's u those of a block, and (WIDE,) to work in.
    """
    workers, (_, M, K) = len(wide), draws.shape
    size, count, width = state[0].size, draws.size, rows[2].size // rows[3].size
    d = size // len(all_sizes)
    indptr, indices, values, labels = pointer(rows[0]), pointer(rows[1]), pointer(rows[2]), pointer(rows[3])
    z, total, held, u = pointer(state[0]), pointer(state[1]), pointer(state[2]), pointer(state[3])
    derivatives, fold, row_numbers = pointer(state[4]), steps[2], pointer(draws)
    q, r, maps, last, gain = addresses(steps)
    begin, end, all_parts, finish = parts
    for t in range(len(draws)):
        for part in range(begin, end):
            into, stop = part * size, (part + 1) * M // all_parts
            for to in range(0, size, len(wide)):
                store(total, into + to, splat(0.0, wide))
                for w in range(workers):
                    store(u, w * size + to, load(z, to, wide))
            for m in range(part * M // all_parts, stop, workers):
                first, block = (t * M + m) * K, min(workers, stop - m)
                for k in range(K):
                    soon = 1 if k + 1 < K else 1 + (workers - 1) * K  # the next step, or the first of the next block
                    for w in range(block):
                        at = first + w * K + k
                        j = row_numbers[at]
                        lo, hi = bounds(j, indptr, width, dense)
                        if not len(dense):
                            fetch(row_numbers, at + soon, at + soon + 1, count, indptr, indices, values, labels, ones)
                        v = offset(u, w * size)
                        y = margin(v, q, k, lo, hi, indices, values, labels[j], simd, all_sizes, dense, ones)
                        store(derivatives, w, y)
                    store(derivatives, 0, sigmoid(load(derivatives, 0, wide), wide))
                    for w in range(block):
                        j, v = row_numbers[first + w * K + k], offset(u, w * size)
                        lo, hi = bounds(j, indptr, width, dense)
                        if fold[k]:
                            apply(maps, k, v, d, held, simd, all_sizes)
                        s = splat(labels[j], simd) * load(derivatives, w, simd)
                        add(v, r, k, lo, hi, indices, values, s, all_sizes, dense, ones)
                for to in range(0, size, len(wide)):
                    sums = load(total, into + to, wide)
                    for w in range(block):
                        sums = fma(splat(weights[m + w], wide), load(u, w * size + to, wide), sums)
                        store(u, w * size + to, load(z, to, wide))
                    store(total, into + to, sums)
        if finish:
            close(z, total, size, all_parts, False, last, gain, d, held, simd, all_sizes, wide)


def side_by_side(workers: int, n: int, size: int) -> bool:
    """Return whether ``abreast`` is faster than ``apart`` for rounds that touch all coordinates.

    Args:
        workers: Workers of a part.
        n: Number of step sizes.
        size: Numbers of a worker's vector u.
    """
    return n == 1 and workers >= WIDE // 2 and WIDE * size <= NEAR


def parts(M: int, K: int, d: int) -> int:
    """Return into how many parts the M workers of a round of K steps in d dimensions are cut."""
    return min(M, PARTS, max(1, M * K // max(PART, SPREAD * d)))


@functools.lru_cache(maxsize=4096)
def coefficients(
    A: tuple[tuple[float, ...], ...],
    b: tuple[float, ...],
    c: tuple[float, ...],
    K: int,
    l2: float,
    again: bool = False,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """q, r (K, p), fold (K,), maps (K, p, p) and after (K, p, p), P after each step, of one recurrence of K steps.

    A, b, c: as nested tuples. again: whether the steps will be repeated, so that P is folded in the last of them. The
    coefficients of a step size depend on nothing but its own recurrence.
    """
    p = len(c)
    B = np.array(A) - l2 * np.outer(b, c)
    powers = [np.eye(p)]
    while len(powers) <= K and _spread(powers[-1] @ B) <= CONDITION:
        powers.append(powers[-1] @ B)
    P = np.stack(powers)  # P before a step; the step after the last of them folds
    k = np.arange(K) % len(P)
    fold = k == len(P) - 1
    fold[-1] |= again
    maps = np.where(fold[:, None, None], P[k] @ B, np.eye(p))
    after = np.where(fold[:, None, None], np.eye(p), P[k] @ B)
    return np.array(c) @ P[k], np.linalg.solve(after, np.array(b)), fold, maps, after


def _spread(P: np.ndarray) -> float:
    """The largest factor by which P or its inverse enlarges a vector: u loses that much precision."""
    values = np.linalg.svd(P, compute_uv=False)
    return max(values[0], 1.0) / min(values[-1], 1.0) if values[-1] > 0 else np.inf
