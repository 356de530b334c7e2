"""Compiled convolution, 2x2 max pooling and ReLU in n1, for small images on a processor.

Channels lie last in memory and make SIMD vectors. Forward, the four convolutions of a pooling window share each
weight that is read. Backward, only the largest of the four has a gradient, and that only if it is positive: each of
those adds a patch of the image to a filter's gradient and a filter to a patch of the image's gradient, a quarter of the
arithmetic of two convolutions or less.

Arrays are copied and added in loops: expressions of whole arrays of four axes take LLVM seconds to compile.
"""

import numpy as np
from numba import njit

from fedatlas.federation.compiled.simd import fma, load, pointer, splat, store, where_equal, where_greater

SPARE = 32  # numbers after the last image, which vectors may reach into


@njit(cache=True, error_model="numpy", nogil=True)
def forward(x, shape, weight, bias, simd):
    """Return the output of a layer, and the position in its window from which each entry came.

    x: flat images (b, height, width, inside) with SPARE numbers to spare; shape: those four numbers. weight: (outside,
    inside, k, k). bias: (outside,). Returns z (b, h, w, padded), h = (height - k + 1) // 2, w alike, and ``chosen`` of
    the same shape: which of a window's four places, by rows, is the first largest, or -1 if it is not positive.
    simd: the width n of vectors of channels, see
    `fedatlas.federation.compiled.simd`. padded: outside rounded up to full vectors; numbers beyond ``outside`` are
    arbitrary.
    """
    n, (b, height, width, inside), (outside, _, k, _) = len(simd), shape, weight.shape
    h, w, padded = (height - k + 1) // 2, (width - k + 1) // 2, -(-outside // n) * n
    filters = np.zeros((k, k, inside, padded), x.dtype)  # output channels last
    start = np.zeros(padded, x.dtype)
    for o in range(outside):
        start[o] = bias[o]
        for channel in range(inside):
            for down in range(k):
                for right in range(k):
                    filters[down, right, channel, o] = weight[o, channel, down, right]
    z, chosen = np.empty((b, h, w, padded), x.dtype), np.empty((b, h, w, padded), x.dtype)
    X, F, B, Z, C = pointer(x), pointer(filters), pointer(start), pointer(z), pointer(chosen)
    row, run, to = width * inside, k * inside, 0
    n0, n1, n2, n3, none = splat(0.0, simd), splat(1.0, simd), splat(2.0, simd), splat(3.0, simd), splat(-1.0, simd)
    for image in range(b):
        for i in range(h):
            for j in range(w):
                at = (image * height + 2 * i) * row + 2 * j * inside
                for v in range(0, padded, n):
                    z0 = load(B, v, simd)
                    z1, z2, z3 = z0, z0, z0
                    for down in range(k):
                        upper, lower, tap = at + down * row, at + (down + 1) * row, down * run * padded + v
                        for s in range(run):
                            f = load(F, tap + s * padded, simd)
                            z0 = fma(splat(X[upper + s], simd), f, z0)
                            z1 = fma(splat(X[upper + inside + s], simd), f, z1)
                            z2 = fma(splat(X[lower + s], simd), f, z2)
                            z3 = fma(splat(X[lower + inside + s], simd), f, z3)
                    corner_index = where_greater(z1, z0, n1, n0)
                    most = where_greater(z1, z0, z1, z0)
                    corner_index = where_greater(z2, most, n2, corner_index)
                    most = where_greater(z2, most, z2, most)
                    corner_index = where_greater(z3, most, n3, corner_index)
                    most = where_greater(z3, most, z3, most)
                    store(Z, to + v, where_greater(most, n0, most, n0))
                    store(C, to + v, where_greater(most, n0, corner_index, none))
                to += padded
    return z, chosen


@njit(cache=True, error_model="numpy", nogil=True)
def by_weight(x, shape, chosen, g, grads, simd):
    """Add the gradients with respect to weight and bias to grads, two arrays of their shapes.

    x, shape, simd: as in ``forward``; chosen: what it returned. g: the gradient by z (b, h, w, padded).
    """
    n, (_, height, width, inside), (outside, _, k, _) = len(simd), shape, grads[0].shape
    b, h, w, padded = chosen.shape
    filters, start = np.zeros((k, k, inside, padded), x.dtype), np.zeros(padded, x.dtype)
    X, F, B, C, G = pointer(x), pointer(filters), pointer(start), pointer(chosen), pointer(g)
    row, run, to = width * inside, k * inside, 0
    n0, n1, n2, n3 = splat(0.0, simd), splat(1.0, simd), splat(2.0, simd), splat(3.0, simd)
    for image in range(b):
        for i in range(h):
            for j in range(w):
                at = (image * height + 2 * i) * row + 2 * j * inside
                for v in range(0, padded, n):
                    s, corner_index = load(G, to + v, simd), load(C, to + v, simd)
                    g0, g1 = where_equal(corner_index, n0, s, n0), where_equal(corner_index, n1, s, n0)
                    g2, g3 = where_equal(corner_index, n2, s, n0), where_equal(corner_index, n3, s, n0)
                    store(B, v, load(B, v, simd) + ((g0 + g1) + (g2 + g3)))
                    for down in range(k):
                        upper, lower, tap = at + down * row, at + (down + 1) * row, down * run * padded + v
                        for r in range(run):
                            f = fma(splat(X[upper + r], simd), g0, load(F, tap + r * padded, simd))
                            f = fma(splat(X[upper + inside + r], simd), g1, f)
                            f = fma(splat(X[lower + r], simd), g2, f)
                            f = fma(splat(X[lower + inside + r], simd), g3, f)
                            store(F, tap + r * padded, f)
                to += padded
    by_filter, by_bias = grads
    for o in range(outside):
        by_bias[o] += start[o]
        for channel in range(inside):
            for down in range(k):
                for right in range(k):
                    by_filter[o, channel, down, right] += filters[down, right, channel, o]


@njit(cache=True, error_model="numpy", nogil=True)
def by_image(shape, weight, chosen, g, simd):
    """Return the gradient with respect to x, flat; arguments as before, but vectors lie along a patch's rows."""
    n, (_, height, width, inside), (outside, _, k, _) = len(simd), shape, weight.shape
    b, h, w, padded = chosen.shape
    row, run = width * inside, k * inside
    length = -(-run // n) * n
    filters = np.zeros((outside, k, length), g.dtype)  # rows in whole vectors
    for o in range(outside):
        for down in range(k):
            for right in range(k):
                for channel in range(inside):
                    filters[o, down, right * inside + channel] = weight[o, channel, down, right]
    gradient = np.zeros(b * height * row + SPARE, g.dtype)
    counts, lists = np.zeros(5, np.int64), np.zeros((5, outside), np.int64)
    X, F, C, G, N, L = pointer(gradient), pointer(filters), pointer(chosen), pointer(g), pointer(counts), pointer(lists)
    for window in range(b * h * w):
        i, j = window // w % h, window % w
        at, to = (window // (h * w) * height + 2 * i) * row + 2 * j * inside, window * padded
        for corner_index in range(5):
            N[corner_index] = 0
        for o in range(outside):  # filters with their largest at each corner of the window; the last list has none
            corner_index = int(C[to + o]) % 5
            L[corner_index * outside + N[corner_index]] = o
            N[corner_index] += 1
        for corner_index in range(4):
            corner = at + (corner_index // 2) * row + corner_index % 2 * inside
            for down in range(k):
                for r in range(0, length, n):
                    target = corner + down * row + r
                    total = load(X, target, simd)
                    for l in range(corner_index * outside, corner_index * outside + N[corner_index]):
                        f = load(F, (L[l] * k + down) * length + r, simd)
                        total = fma(splat(G[to + L[l]], simd), f, total)
                    store(X, target, total)
    return gradient
