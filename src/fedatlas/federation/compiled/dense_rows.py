"""Compiled gradients of softmax regression on dense rows, which are read where they lie.

A row is read in vectors of neighbouring features. Vectors of zeros, as in the background of an image, are passed over.
Forward, the scores of five classes share each vector that is read. Backward, a vector of the gradient is summed over
the samples in registers and written once. Rows may be bytes, the pixels of an image, whose scale is multiplied into the
scores: an eighth of the memory, which is what rows in float64 wait for.

Each sum has one order, so bits depend neither on the clients of a call nor on the machine's vector registers.
"""

import math

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from fedatlas.federation.compiled.compilation import compile_in_turn
from fedatlas.federation.compiled.decorators import inline, kernel
from fedatlas.federation.compiled.simd import (
    REALS,
    Vector,
    clamp,
    exp,
    fma,
    load,
    pointer,
    prefetch,
    splat,
    store,
    summed,
    where_greater,
)  # fmt: skip

CLASSES = 5  # whose sums are in registers together; they are written out, since registers have no index
SAMPLES = 32  # whose scores are computed before their gradient
WORD = 64  # vectors of features whose weights are in the first cache together, and bits of a number
WIDE = 8  # doubles of a vector
LINE = 64  # bytes of a line of the cache, and of a vector of features as numbers
AHEAD = 4  # samples that are fetched in advance: which ones come is known, where they lie is random


@intrinsic
def convert(typing, pointer, at, simd):
    """Return a vector of neighbours from number ``at`` of a pointer to bytes, or to numbers of no larger type."""
    kind = Vector(simd.count, simd.dtype)

    def generate(context, builder, signature, args):
        entry = context.get_value_type(pointer.dtype)
        address = builder.bitcast(builder.gep(args[0], [args[1]]), ir.VectorType(entry, kind.count).as_pointer())
        vector = builder.load(address, align=pointer.dtype.bitwidth // 8)
        if pointer.dtype == kind.dtype:
            return vector
        return (builder.fpext if pointer.dtype in REALS else builder.uitofp)(vector, kind.llvm)

    return kind(pointer, types.intp, simd), generate


@intrinsic
def trailing_zeros(typing, bits):
    """Return how many bits below the lowest one that is set are 0."""
    signature = types.int64(bits)
    return signature, lambda context, builder, signature, args: builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))


@inline
def total(v, halves):
    """Return the sum of a vector's entries, half by half, as a vector of one."""
    return summed(summed(summed(summed(v, halves[0]), halves[1]), halves[2]), halves[3])


# No fastmath: bits must not depend on the machine's vector registers.
@kernel
def gradients(A, y, nonzero, scale, index, weights, x, bias, l2, g, losses, simd, halves, wide):
    """Set the gradients of clients' minibatches, and the weighted sums of the samples' losses.

    Args:
        A: Features over their scale (n, p), bytes or numbers of the type of x.
        y: Labels (n,).
        nonzero: Bits of the vectors of each row that are not all zeros, (n, words).
        scale: Scale of the features.
        index: Rows of each client, (m, b).
        weights: Weights (m, b) of the samples' losses, or (0, 0) for 1 / b.
        x: Points, (m, d) or (1, d) for all clients: weights (classes, p) and biases (classes,).
        bias: Whether there are biases.
        l2: Weight of the penalty, whose gradient is added.
        g: Gradients (m, d), which are set.
        losses: Sums of losses (m,), which are set; empty if they are not asked for.
        simd: Tuple as long as a vector of features has numbers of the type of x. Only its length and type count.
        halves: Tuples of lengths 8, 4, 2 and 1, likewise.
        wide: Tuple of WIDE doubles, likewise.
    """
    (m, b), p, (_, d), n = index.shape, A.shape[1], x.shape, len(simd)
    classes = d // (p + bias)
    whole = p // n * n  # features in vectors; the others, fewer than a vector, are computed one by one
    groups, words = -(-classes // CLASSES) * CLASSES, nonzero.shape[1]
    packed = np.empty(CLASSES * WORD * n + LINE, x.dtype)
    shift = -packed.ctypes.data % LINE // packed.itemsize
    partial = np.empty(groups * SAMPLES * n, x.dtype)
    products, derivatives = np.empty(groups * SAMPLES, x.dtype), np.empty(groups * SAMPLES, x.dtype)
    scores, sums, tops = np.empty(groups * SAMPLES), np.empty(SAMPLES), np.empty(SAMPLES)
    users = np.empty(words * WORD, np.uint64)
    a, labels, B, I, X, G = pointer(A), pointer(y), pointer(nonzero), pointer(index), pointer(x), pointer(g)
    W, R, U, T, P = pointer(packed), pointer(partial), pointer(users), pointer(products), pointer(derivatives)
    Z, S, M, one = pointer(scores), pointer(sums), pointer(tops), np.uint64(1)
    none, penalty = splat(simd[0], simd), splat(l2, simd)
    low, high, last = splat(-700.0, wide), splat(0.0, wide), m * b - 1
    for i in range(m):
        at, to = i * d if x.shape[0] > 1 else 0, i * d
        if len(losses):
            losses[i] = 0
        for begin in range(0, b, SAMPLES):
            size, first = min(SAMPLES, b - begin), i * b + begin
            for k in range(whole // n):
                U[k] = 0
            for j in range(size):
                row, soon = I[first + j], I[min(first + j + AHEAD, last)]
                prefetch(labels, soon)
                prefetch(B, soon * words)
                for k in range(0, p, LINE // A.itemsize):
                    prefetch(a, soon * p + k)
                for word in range(words):
                    bits = B[row * words + word]
                    while bits:
                        U[word * WORD + trailing_zeros(bits)] |= one << np.uint64(j)
                        bits &= bits - one
            for word in range(words):
                start, end = word * WORD * n, min((word + 1) * WORD * n, whole)
                for c in range(0, classes, CLASSES):
                    for k in range(start, end, n):  # five classes side by side, in whole lines of the cache
                        line = shift + (k - start) * CLASSES
                        for l in range(CLASSES):
                            store(W, line + l * n, load(X, at + min(c + l, classes - 1) * p + k, simd))
                    for j in range(size):
                        bits, row = B[I[first + j] * words + word], I[first + j] * p + start
                        r = (c * SAMPLES + j * CLASSES) * n
                        if word:
                            z0, z1, z2 = load(R, r, simd), load(R, r + n, simd), load(R, r + 2 * n, simd)
                            z3, z4 = load(R, r + 3 * n, simd), load(R, r + 4 * n, simd)
                        else:
                            z0, z1, z2, z3, z4 = none, none, none, none, none
                        while bits:
                            k = trailing_zeros(bits) * n
                            bits &= bits - one
                            v = convert(a, row + k, simd)
                            k = shift + k * CLASSES
                            z0 = fma(v, load(W, k, simd), z0)
                            z1 = fma(v, load(W, k + n, simd), z1)
                            z2 = fma(v, load(W, k + 2 * n, simd), z2)
                            z3 = fma(v, load(W, k + 3 * n, simd), z3)
                            z4 = fma(v, load(W, k + 4 * n, simd), z4)
                        if word < words - 1:
                            store(R, r, z0)
                            store(R, r + n, z1)
                            store(R, r + 2 * n, z2)
                            store(R, r + 3 * n, z3)
                            store(R, r + 4 * n, z4)
                        else:
                            k = c * SAMPLES + j
                            store(T, k, total(z0, halves))
                            store(T, k + SAMPLES, total(z1, halves))
                            store(T, k + 2 * SAMPLES, total(z2, halves))
                            store(T, k + 3 * SAMPLES, total(z3, halves))
                            store(T, k + 4 * SAMPLES, total(z4, halves))
            for c in range(classes):
                for k in range(whole, p):
                    for j in range(size):
                        T[c * SAMPLES + j] += X[at + c * p + k] * A[I[first + j], k]
            for j in range(0, size, WIDE):
                top = splat(-np.inf, wide)
                for c in range(classes):
                    z = splat(np.float64(scale), wide) * convert(T, c * SAMPLES + j, wide)
                    if bias:
                        z = z + splat(np.float64(X[at + classes * p + c]), wide)
                    store(Z, c * SAMPLES + j, z)
                    top = where_greater(z, top, z, top)
                store(M, j, top)
            if len(losses):
                for j in range(size):
                    weight = np.float64(weights[i, begin + j]) if weights.size else 1 / b
                    losses[i] += weight * (M[j] - Z[labels[I[first + j]] * SAMPLES + j])
            for j in range(0, size, WIDE):
                norm = splat(0.0, wide)
                for c in range(classes):
                    z = load(Z, c * SAMPLES + j, wide) - load(M, j, wide)
                    z = exp(clamp(z, low, high), wide) + (z - z)  # not a number where the score is none
                    store(Z, c * SAMPLES + j, z)
                    norm = norm + z
                store(S, j, norm)
            for j in range(size):
                weight = np.float64(weights[i, begin + j]) if weights.size else 1 / b
                if len(losses):
                    losses[i] += weight * math.log(S[j])
                S[j] = weight / S[j]
                M[j] = weight
            for c in range(classes):
                for j in range(size):
                    Z[c * SAMPLES + j] *= S[j]
            for j in range(size):
                Z[labels[I[first + j]] * SAMPLES + j] -= M[j]
            for c in range(classes):
                for j in range(size):
                    P[c * SAMPLES + j] = Z[c * SAMPLES + j] * scale
            for k in range(0, whole, n):
                for c in range(0, classes, CLASSES):
                    k0, k1 = c * p + k, min(c + 1, classes - 1) * p + k
                    k2, k3 = min(c + 2, classes - 1) * p + k, min(c + 3, classes - 1) * p + k
                    k4 = min(c + 4, classes - 1) * p + k
                    if begin:
                        g0, g1, g2 = load(G, to + k0, simd), load(G, to + k1, simd), load(G, to + k2, simd)
                        g3, g4 = load(G, to + k3, simd), load(G, to + k4, simd)
                    elif l2:
                        g0, g1 = penalty * load(X, at + k0, simd), penalty * load(X, at + k1, simd)
                        g2, g3 = penalty * load(X, at + k2, simd), penalty * load(X, at + k3, simd)
                        g4 = penalty * load(X, at + k4, simd)
                    else:
                        g0, g1, g2, g3, g4 = none, none, none, none, none
                    bits = U[k // n]
                    while bits:
                        j = trailing_zeros(bits)
                        bits &= bits - one
                        v = convert(a, I[first + j] * p + k, simd)
                        j += c * SAMPLES
                        g0 = fma(splat(P[j], simd), v, g0)
                        g1 = fma(splat(P[j + SAMPLES], simd), v, g1)
                        g2 = fma(splat(P[j + 2 * SAMPLES], simd), v, g2)
                        g3 = fma(splat(P[j + 3 * SAMPLES], simd), v, g3)
                        g4 = fma(splat(P[j + 4 * SAMPLES], simd), v, g4)
                    store(G, to + k4, g4)  # from the last class, which others repeat where fewer than five are left
                    store(G, to + k3, g3)
                    store(G, to + k2, g2)
                    store(G, to + k1, g1)
                    store(G, to + k0, g0)
            for c in range(classes):
                for k in range(whole, p):
                    f = G[to + c * p + k] if begin else l2 * X[at + c * p + k]
                    for j in range(size):
                        f += P[c * SAMPLES + j] * A[I[first + j], k]
                    G[to + c * p + k] = f
                if bias:
                    k = classes * p + c
                    f = np.float64(G[to + k] if begin else l2 * X[at + k])
                    for j in range(size):
                        f += Z[c * SAMPLES + j]
                    G[to + k] = f
    # Numba frees an array after its last use, and to index its pointer is none.
    alive = len(packed) + len(partial) + len(products) + len(derivatives)
    return alive + len(scores) + len(sums) + len(tops) + len(users)


class DenseRows:
    """Dense rows with their labels, from which clients draw minibatches.

    Args:
        A: Features over their scale (n, p), contiguous: bytes, or numbers of the type ``dtype``.
        y: Labels (n,).
        dtype: Type of points and gradients, float32 or float64.
        scale: Scale of the features.
        bias: Whether scores have a bias.
    """

    def __init__(self, A: np.ndarray, y: np.ndarray, dtype: np.dtype, scale: float, bias: bool) -> None:
        real = self._real = dtype.type
        rows = A, y.astype(np.int64), _nonzero(A, LINE // dtype.itemsize)
        self._rows = *map(_frozen, rows), real(scale)
        self._bias = int(bias)
        self._vectors = (
            (real(0),) * (LINE // dtype.itemsize),
            tuple((real(0),) * n for n in (8, 4, 2, 1)),
            (0.0,) * WIDE,
        )
        self._ready = False

    def gradients(
        self, index: np.ndarray, weights: np.ndarray | None, x: np.ndarray, l2: float, with_losses: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the gradients (m, d) of clients' minibatches, and the weighted sums (m,) of the samples' losses.

        Args:
            index: Rows of each client, (m, b).
            weights: Weights (m, b) of the samples' losses, or None for 1 / b.
            x: Points, (m, d), or (d,) for all clients.
            l2: Weight of the penalty, whose gradient is added.
            with_losses: Whether losses are computed; otherwise there are none, (0,).
        """
        real, m = self._real, len(index)
        x = np.ascontiguousarray(x if x.ndim == 2 else x[None], real)
        weights = np.empty((0, 0), real) if weights is None else np.ascontiguousarray(weights, real)
        given = map(_frozen, (np.ascontiguousarray(index, np.int64), weights, x))
        g, losses = np.empty((m, x.shape[1]), real), np.empty(m if with_losses else 0)
        arguments = *self._rows, *given, self._bias, real(l2), g, losses, *self._vectors
        if not self._ready:  # all calls have arguments of the same types
            compile_in_turn(gradients, arguments)
            self._ready = True
        gradients(*arguments)
        return g, losses


def _frozen(a: np.ndarray) -> np.ndarray:
    """Return a read-only view, since Numba compiles once more for arrays that may be written to."""
    view = a.view()
    view.flags.writeable = False
    return view


def _nonzero(A: np.ndarray, width: int) -> np.ndarray:
    """Return a bit for each vector of features of each row, whether one of them is not 0: (n, words), uint64."""
    vectors = A.shape[1] // width
    bits = np.zeros((len(A), -(-max(vectors, 1) // 64) * 8), np.uint8)
    for start in range(0, len(A), 1024):  # for little memory
        part = A[start : start + 1024, : vectors * width]
        packed = np.packbits(part.reshape(len(part), vectors, width).any(axis=2), axis=1, bitorder="little")
        bits[start : start + 1024, : packed.shape[1]] = packed
    return bits.view(np.uint64)
