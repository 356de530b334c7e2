"""The compiled passes of a sequential network: one call for the gradient of a minibatch, or for its scores.

A call holds no lock of Python, so several threads compute clients at once. Rows pass through the network in parts of
``ROWS``, whose numbers stay in the processor's caches; the parts of a minibatch follow from its size alone.
"""

import math

import numpy as np
from numba import njit

from fedatlas.federation.compiled import dense, pooling
from fedatlas.federation.compiled.dense import L
from fedatlas.federation.compiled.plans import ROWS
from fedatlas.federation.compiled.pooling import S
from fedatlas.federation.compiled.simd import pointer


@njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def gather(P, stage, octets, samples, rows, shift, scale):
    """Write the images of the first stage inside their padding; arguments as of ``run``."""
    padding, width = stage[S.PADDING], stage[S.WIDTH] * stage[S.CHANNELS]
    height, run = stage[S.HEIGHT] - 2 * padding, len(shift)
    O, X, shifts, scales = pointer(octets), pointer(samples), pointer(shift), pointer(scale)
    for r in range(len(rows)):
        for i in range(height):
            at = (rows[r] * height + i) * run
            to = stage[S.IMAGES] + (r * stage[S.HEIGHT] + padding + i) * width + padding * stage[S.CHANNELS]
            if len(octets):
                for s in range(run):
                    P[to + s] = O[at + s]
            else:
                for s in range(run):
                    P[to + s] = X[at + s]
            for s in range(run):
                P[to + s] = (P[to + s] - shifts[s]) * scales[s]


@njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def flatten(P, I, stage, layer, rows, lanes, simd):
    """Write the inputs of the first dense layer, channel by channel, from the images of the last stage."""
    features, width, order = layer[L.INPUTS], layer[L.WIDTH], stage[S.PLACES]
    for r in range(rows if layer[L.ROWS] != stage[S.IMAGES] else 0):
        at, to = stage[S.IMAGES] + r * features, layer[L.ROWS] + r * width
        for f in range(features):
            P[to + f] = P[at + I[order + f]]
    dense.transpose(P, layer[L.ROWS], width, layer[L.COLUMNS], lanes, lanes, width, simd)


@njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def unflatten(P, I, stage, layer, rows):
    """Write the gradient with respect to the images of the last stage from that of the first dense layer's inputs."""
    features, width, order = layer[L.INPUTS], layer[L.WIDTH], stage[S.PLACES]
    for r in range(rows):
        to, at = stage[S.GRADIENT] + r * features, layer[L.GRADIENT] + r * width
        for f in range(features):
            P[to + I[order + f]] = P[at + f]


@njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def cross_entropy(P, scores, labels, n):
    """Return the sum of the losses, and write its derivatives over n. scores: The table's last row."""
    total = 0.0
    for r in range(len(labels)):
        z, g = scores[L.ROWS] + r * scores[L.WIDTH], scores[L.GRADIENT] + r * scores[L.WIDTH]
        most, mass = P[z], 0.0
        for o in range(scores[L.INPUTS]):
            most = max(most, P[z + o])
        for o in range(scores[L.INPUTS]):
            mass += math.exp(np.float64(P[z + o] - most))
        for o in range(scores[L.INPUTS]):
            P[g + o] = (math.exp(np.float64(P[z + o] - most)) / mass - (o == labels[r])) / n
        total += math.log(mass) - (P[z + labels[r]] - most)
    return total


@njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def logistic(P, scores, labels, n):
    """Return the sum of the logistic losses, and write its derivatives over n. scores: The table's last row."""
    total = 0.0
    for r in range(len(labels)):
        sign, at = 2 * labels[r] - 1, r * scores[L.WIDTH]
        margin = np.float64(sign * P[scores[L.ROWS] + at])
        tail = math.exp(-abs(margin))
        total += math.log1p(tail) + (-margin if margin < 0 else 0.0)
        P[scores[L.GRADIENT] + at] = -sign * (1 if margin < 0 else tail) / (1 + tail) / n
    return total


@njit(cache=True, error_model="numpy", nogil=True)
def run(tables, work, numbers, x, rows, octets, samples, labels, scaling, logistic_loss, gradient, scores, simd, wide):
    """Return the mean loss of rows and write its gradient, or write the scores.

    Args:
        tables: Table of stages and table of dense layers; see `pooling.Stage` and `dense.Dense`.
        work: Workspace.
        numbers: Workspace of whole numbers.
        x: Parameters, (d,), and as many numbers behind them as `Plan.reach` says.
        rows: Numbers of the samples, (b,).
        octets: Samples as bytes, (n, height, width, channels), flat; or empty.
        samples: Samples as numbers, of the same shape; or empty.
        labels: Labels of the samples, (n,).
        scaling: Shift and scale of a row of pixels, two arrays (width * channels,): the network is given (sample -
            shift) * scale.
        logistic_loss: Whether the loss is the logistic one, otherwise cross-entropy.
        gradient: (d + LANES,), of which the first d become the gradient; or empty, if the scores are asked for.
        scores: (b, outputs), flat; or empty.
        simd: As many numbers as a vector has.
        wide: As many as one has of more channels.
    """
    stages, layers = tables
    P, I, W, D, n = pointer(work), pointer(numbers), pointer(x), pointer(gradient), len(simd)
    b, end, depth, total = len(rows), len(stages) - 1, len(layers) - 1, 0.0
    outputs, width, z = layers[depth, L.INPUTS], layers[depth, L.WIDTH], layers[depth, L.ROWS]
    for at in range(len(gradient)):
        D[at] = 0
    for l in range(end):
        pooling.pack(P, W, stages[l], stages[l + 1])
    targets = np.empty(ROWS, np.int64)
    for first in range(0, b, ROWS):
        part = rows[first : first + ROWS]
        m = len(part)
        lanes = -(-m // n) * n
        gather(P, stages[0], octets, samples, part, scaling[0], scaling[1])
        for l in range(end):
            if stages[l, S.WIDE] == n:
                pooling.forward(P, I, stages[l], stages[l + 1], m, simd)
            else:
                pooling.forward(P, I, stages[l], stages[l + 1], m, wide)
        flatten(P, I, stages[end], layers[0], m, lanes, simd)
        for l in range(depth):
            dense.forward(P, W, layers[l], layers[l + 1], lanes, simd, wide)
        if len(scores):
            for r in range(m):
                for o in range(outputs):
                    scores[(first + r) * outputs + o] = P[z + r * width + o]
            continue
        for r in range(m):
            targets[r] = labels[part[r]]
        if logistic_loss:
            total += logistic(P, layers[depth], targets[:m], b)
        else:
            total += cross_entropy(P, layers[depth], targets[:m], b)
        for l in range(depth - 1, -1, -1):
            dense.by_weight(P, D, layers[l], layers[l + 1], m, lanes, simd, wide)
            if l > 0 or end > 0:
                dense.by_input(P, W, layers[l], layers[l + 1], m, simd, wide)
        if end > 0:
            unflatten(P, I, stages[end], layers[0], m)
        for l in range(end - 1, -1, -1):
            pooling.by_weight(P, I, D, stages[l], stages[l + 1], m, simd)
            if l > 0:
                pooling.by_image(P, I, stages[l], stages[l + 1], m, simd)
    return total / b
