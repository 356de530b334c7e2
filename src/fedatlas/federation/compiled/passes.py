"""The compiled passes of a sequential network: one call for the gradient of a minibatch, or for its scores.

A call holds no lock of Python, so several threads compute clients at once. Rows pass through the network in parts of
``ROWS``, whose numbers stay in the processor's caches; the parts of a minibatch follow from its size alone.
"""

import math

import numpy as np

from fedatlas.federation.compiled import dense, pooling
from fedatlas.federation.compiled.decorators import internal, kernel
from fedatlas.federation.compiled.dense import Dense
from fedatlas.federation.compiled.plans import ROWS
from fedatlas.federation.compiled.pooling import LANES, WIDE, Stage
from fedatlas.federation.compiled.simd import entry, offset, pointer, zeros


@internal
def gather(P, stage, octets, samples, bytewise, rows, count, shift, scale):
    """Write the images of the first stage inside their padding.

    octets, samples, rows, shift, scale: addresses of what ``run`` has. bytewise: whether the samples are the octets.
    """
    padding, width = stage.PADDING, stage.WIDTH * stage.CHANNELS
    height, run = stage.HEIGHT - 2 * padding, width - 2 * padding * stage.CHANNELS
    for r in range(count):
        for i in range(height):
            at = (rows[r] * height + i) * run
            to = stage.IMAGES + (r * stage.HEIGHT + padding + i) * width + padding * stage.CHANNELS
            if bytewise:
                for s in range(run):
                    P[to + s] = octets[at + s]
            else:
                for s in range(run):
                    P[to + s] = samples[at + s]
            for s in range(run):
                P[to + s] = (P[to + s] - shift[s]) * scale[s]


@internal
def flatten(P, I, stage, layer, rows, lanes, simd):
    """Write the inputs of the first dense layer, channel by channel, from the images of the last stage."""
    features, width, order = layer.INPUTS, layer.WIDTH, stage.PLACES
    for r in range(rows if layer.ROWS != stage.IMAGES else 0):
        at, to = stage.IMAGES + r * features, layer.ROWS + r * width
        for f in range(features):
            P[to + f] = P[at + I[order + f]]
    dense.transpose(P, layer.ROWS, width, layer.COLUMNS, lanes, lanes, width, simd)


@internal
def unflatten(P, I, stage, layer, rows):
    """Write the gradient with respect to the images of the last stage from that of the first dense layer's inputs."""
    features, width, order = layer.INPUTS, layer.WIDTH, stage.PLACES
    for r in range(rows):
        to, at = stage.GRADIENT + r * features, layer.GRADIENT + r * width
        for f in range(features):
            P[to + I[order + f]] = P[at + f]


@internal
def cross_entropy(P, scores, labels, rows, count, n):
    """Return the sum of the losses of so many rows, and write its derivatives over n. scores: The table's last row."""
    total = 0.0
    for r in range(count):
        z, g, label = scores.ROWS + r * scores.WIDTH, scores.GRADIENT + r * scores.WIDTH, labels[rows[r]]
        most, mass = P[z], 0.0
        for o in range(scores.INPUTS):
            most = max(most, P[z + o])
        for o in range(scores.INPUTS):
            mass += math.exp(np.float64(P[z + o] - most))
        for o in range(scores.INPUTS):
            P[g + o] = (math.exp(np.float64(P[z + o] - most)) / mass - (o == label)) / n
        total += math.log(mass) - (P[z + label] - most)
    return total


@internal
def logistic(P, scores, labels, rows, count, n):
    """Return the sum of the logistic losses, and write its derivatives over n; arguments as of ``cross_entropy``."""
    total = 0.0
    for r in range(count):
        sign, at = 2 * labels[rows[r]] - 1, r * scores.WIDTH
        margin = np.float64(sign * P[scores.ROWS + at])
        tail = math.exp(-abs(margin))
        total += math.log1p(tail) + (-margin if margin < 0 else 0.0)
        P[scores.GRADIENT + at] = -sign * (1 if margin < 0 else tail) / (1 + tail) / n
    return total


@kernel
def run(tables, work, numbers, x, rows, octets, samples, labels, scaling, logistic_loss, gradient, scores):
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
    """
    stages, layers, end, depth = pointer(tables[0]), pointer(tables[1]), len(tables[0]) - 1, len(tables[1]) - 1
    P, I, W, D, Z = pointer(work), pointer(numbers), pointer(x), pointer(gradient), pointer(scores)
    O, X, Y, shift, scale = pointer(octets), pointer(samples), pointer(labels), pointer(scaling[0]), pointer(scaling[1])
    simd, wide, bytewise = zeros(P, LANES), zeros(P, WIDE), len(octets) > 0
    images, top, b, total = entry(stages, end, Stage), entry(layers, depth, Dense), len(rows), 0.0
    for at in range(len(gradient)):
        D[at] = 0
    for l in range(end):
        pooling.pack(P, W, entry(stages, l, Stage), entry(stages, l + 1, Stage))
    for first in range(0, b, ROWS):
        part, m = offset(pointer(rows), first), min(ROWS, b - first)
        lanes = -(-m // LANES) * LANES
        gather(P, entry(stages, 0, Stage), O, X, bytewise, part, m, shift, scale)
        for l in range(end):
            stage, next_stage = entry(stages, l, Stage), entry(stages, l + 1, Stage)
            if stage.WIDE == LANES:
                pooling.forward(P, I, stage, next_stage, m, simd)
            else:
                pooling.forward(P, I, stage, next_stage, m, wide)
        flatten(P, I, images, entry(layers, 0, Dense), m, lanes, simd)
        for l in range(depth):
            dense.forward(P, W, entry(layers, l, Dense), entry(layers, l + 1, Dense), lanes, simd, wide)
        if len(scores):
            for r in range(m):
                for o in range(top.INPUTS):
                    Z[(first + r) * top.INPUTS + o] = P[top.ROWS + r * top.WIDTH + o]
            continue
        if logistic_loss:
            total += logistic(P, top, Y, part, m, b)
        else:
            total += cross_entropy(P, top, Y, part, m, b)
        for l in range(depth - 1, -1, -1):
            layer, next_layer = entry(layers, l, Dense), entry(layers, l + 1, Dense)
            dense.by_weight(P, D, layer, next_layer, m, lanes, simd, wide)
            if l > 0 or end > 0:
                dense.by_input(P, W, layer, next_layer, m, simd, wide)
        if end > 0:
            unflatten(P, I, images, entry(layers, 0, Dense), m)
        for l in range(end - 1, -1, -1):
            stage, next_stage = entry(stages, l, Stage), entry(stages, l + 1, Stage)
            pooling.by_weight(P, I, D, stage, next_stage, m, simd)
            if l > 0:
                pooling.by_image(P, I, stage, next_stage, m, simd)
    return total / b
