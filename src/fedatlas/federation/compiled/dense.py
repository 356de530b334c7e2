"""Compiled dense layers for minibatches of a few rows."""

from typing import NamedTuple

from fedatlas.federation.compiled.decorators import internal
from fedatlas.federation.compiled.simd import fma, load, splat, store, transpose_square, where_greater


class Dense(NamedTuple):
    """A row of the table of dense layers; the last one is the scores. Positions count numbers of the workspace."""

    INPUTS: int
    WIDTH: int  # inputs in whole vectors
    ROWS: int  # position of the inputs, (rows, WIDTH)
    COLUMNS: int  # position of the inputs, (WIDTH, lanes): rows in whole vectors
    GRADIENT: int  # position of the gradient with respect to them, (rows, WIDTH)
    RELU: int = 0  # 1 if the inputs are what ReLU returned
    WEIGHT: int = 0  # position in the parameters
    BIAS: int = -1  # position in the parameters, or -1


@internal
def add_product(C, c, across, A, a, down, B, b, along, rows, inner, columns, simd, wide):
    """Add to entries C[r, v] the sums over s of A[r, s] B[s, v], one s after another.

    C, A, B: addresses; c, a, b: positions of the first entries; across, down, along: distances of the rows of C, A and
    B. columns: a multiple of the width of a vector. Where the rows of C are shorter, those of B end with zeros: then
    the next row of C is read and written as it is.
    """
    whole = columns // len(wide) * len(wide)
    add_columns(C, c, across, A, a, down, B, b, along, rows, inner, whole, wide)
    add_columns(C, c + whole, across, A, a, down, B, b + whole, along, rows, inner, columns - whole, simd)


@internal
def add_columns(C, c, across, A, a, down, B, b, along, rows, inner, columns, simd):
    """Do as ``add_product`` does, with vectors of one width.

    Four rows at a time share what is read of B: with wide vectors, as many sums as the registers of every processor
    hold. At the end some are the same row, which has the same sums.
    """
    n, last = len(simd), rows - 1
    for r in range(0, rows, 4):
        r1, r2, r3 = min(r + 1, last), min(r + 2, last), min(r + 3, last)
        a0, a1, a2, a3 = a + r * down, a + r1 * down, a + r2 * down, a + r3 * down
        for v in range(0, columns, n):
            to = c + v
            z0, z1 = load(C, to + r * across, simd), load(C, to + r1 * across, simd)
            z2, z3 = load(C, to + r2 * across, simd), load(C, to + r3 * across, simd)
            for s in range(inner):
                y = load(B, b + s * along + v, simd)
                z0 = fma(splat(A[a0 + s], simd), y, z0)
                z1 = fma(splat(A[a1 + s], simd), y, z1)
                z2 = fma(splat(A[a2 + s], simd), y, z2)
                z3 = fma(splat(A[a3 + s], simd), y, z3)
            store(C, to + r * across, z0)
            store(C, to + r1 * across, z1)
            store(C, to + r2 * across, z2)
            store(C, to + r3 * across, z3)


@internal
def transpose(P, at, across, to, down, rows, columns, simd):
    """Write entries (r, c) of a matrix at ``at`` as entries (c, r) of one at ``to``, in whole squares of vectors.

    across, down: distances of the rows of the matrices.
    """
    n = len(simd)
    for c in range(0, columns, n):
        for r in range(0, rows, n):
            transpose_square(P, at + r * across + c, across, to + c * down + r, down, simd)


@internal
def forward(P, W, source, target, lanes, simd, wide):
    """Write the inputs of the next layer. P, W: addresses of workspace and parameters."""
    inputs, outputs, x, to, n = source.INPUTS, target.INPUTS, source.COLUMNS, target.COLUMNS, len(simd)
    zero = splat(0.0, simd)
    for o in range(target.WIDTH):
        bias = splat(W[source.BIAS + o], simd) if source.BIAS >= 0 and o < outputs else zero
        for v in range(0, lanes, n):
            store(P, to + o * lanes + v, bias)
    add_product(P, to, lanes, W, source.WEIGHT, inputs, P, x, lanes, outputs, inputs, lanes, simd, wide)
    for at in range(to, to + outputs * lanes if target.RELU else to, n):
        z = load(P, at, simd)
        store(P, at, where_greater(z, zero, z, zero))
    transpose(P, to, lanes, target.ROWS, target.WIDTH, target.WIDTH, lanes, simd)


@internal
def by_weight(P, D, source, target, rows, lanes, simd, wide):
    """Add the gradients with respect to weight and bias to the network's gradient, whose address is D.

    The columns of the next layer's inputs become those of the gradient with respect to them.
    """
    inputs, width, outputs, across = source.INPUTS, source.WIDTH, target.INPUTS, target.WIDTH
    x, g, columns = source.ROWS, target.GRADIENT, target.COLUMNS
    transpose(P, g, across, columns, lanes, lanes, across, simd)
    add_product(D, source.WEIGHT, inputs, P, columns, lanes, P, x, width, outputs, rows, width, simd, wide)
    bias = source.BIAS
    if bias >= 0:
        for r in range(rows):
            for o in range(outputs):
                D[bias + o] += P[g + r * across + o]


@internal
def by_input(P, W, source, target, rows, simd, wide):
    """Write the gradient with respect to the inputs, or to those of the ReLU before the layer."""
    inputs, width, outputs, across = source.INPUTS, source.WIDTH, target.INPUTS, target.WIDTH
    to, g, zero, n = source.GRADIENT, target.GRADIENT, splat(0.0, simd), len(simd)
    for at in range(to, to + rows * width, n):
        store(P, at, zero)
    add_product(P, to, width, P, g, across, W, source.WEIGHT, inputs, rows, outputs, width, simd, wide)
    x = source.ROWS - to
    for at in range(to, to + rows * width if source.RELU else to, n):
        store(P, at, where_greater(load(P, at + x, simd), zero, load(P, at, simd), zero))
