"""Compiled convolution, 2x2 max pooling and ReLU in one, for small images on a processor.

Channels lie last in memory and make SIMD vectors. Forward, two pooling windows at a time share each weight that is
read: their eight convolutions are sums that need not wait for each other. Backward, only the largest of the four places
of a window has a gradient, and that only if it is positive: each of those adds a patch of the image to a filter's
gradient and a filter to a patch of the image's gradient, a quarter of the arithmetic of two convolutions or less. Its
patches are added to in groups of ``GROUP`` vectors.

``P`` is the address of the workspace, which `fedatlas.federation.compiled.plans` lays out, ``I`` that of its whole
numbers; both begin with room for what a function of this module needs for itself. ``source`` and ``target`` are the
stages before and after the layer.
"""

from typing import NamedTuple

import numpy as np

from fedatlas.federation.compiled.decorators import internal
from fedatlas.federation.compiled.simd import fma, load, splat, store, where_equal, where_greater

LANES, WIDE, GROUP = 8, 16, 5  # numbers of a vector, of one of more channels than eight, and vectors of a group
PART = 4096  # numbers of images whose patches are read together, which the nearest cache holds


class Stage(NamedTuple):
    """A row of the table of stages: images between the layers of a network, and the convolution that reads them.

    Images lie as (rows, height, width, channels). Positions of arrays count numbers of the workspace.
    """

    HEIGHT: int  # pixels, with padding
    WIDTH: int
    CHANNELS: int
    PADDING: int
    IMAGES: int = 0  # position of the images
    GRADIENT: int = 0  # position of the gradient with respect to them
    KERNEL: int = 0  # side of the convolution's filters
    WINDOWS: int = 0  # pooling windows of an image
    WEIGHT: int = 0  # position in the parameters
    BIAS: int = 0
    WIDE: int = 0  # channels of its outputs in whole vectors
    CHOSEN: int = 0  # position of the places of the largest, (windows, WIDE)
    FILTERS: int = 0  # position of the filters for the pass forward, (k, k, inside, WIDE), bias and mask
    PATCHES: int = 0  # position of the filters for the pass backward, (2, outside, k + 3, length)
    PLACES: int = 0  # position, among the whole numbers, of the windows' pixels, as in `plans`, (windows, 2);
    #   of the last stage, of the features of an image in the order of the first dense layer


def padded(count: int, multiple: int = LANES) -> int:
    """Return the least multiple that is not below count."""
    return -(-count // multiple) * multiple


@internal
def patch_length(source):
    """Return the numbers of a filter's row as the pass backward has it, in whole groups of vectors."""
    group = GROUP * LANES
    return -(-(source.KERNEL + 1) * source.CHANNELS // group) * group


@internal
def pack(P, W, source, target):
    """Write the filters of a layer in the orders in which both passes read them. W: address of the parameters."""
    inside, outside, k, wide = source.CHANNELS, target.CHANNELS, source.KERNEL, source.WIDE
    run, length = k * inside, patch_length(source)
    bias, weight = source.FILTERS + k * run * wide, source.WEIGHT
    for o in range(outside):
        P[bias + o] = W[source.BIAS + o]
        P[bias + wide + o] = 1
        for channel in range(inside):
            for down in range(k):
                for right in range(k):
                    w, s = W[weight], right * inside + channel
                    P[source.FILTERS + (down * run + s) * wide + o] = w
                    patch = source.PATCHES + (o * (k + 3) + 1 + down) * length + s
                    P[patch] = w
                    P[patch + outside * (k + 3) * length + inside] = w
                    weight += 1


@internal
def keep_largest(P, chosen, to, mask, z0, z1, z2, z3, simd):
    """Write the largest of the four places of a window at ``to`` if it is positive, and its place at ``chosen``."""
    n0, n1, n2, n3, none = splat(0.0, simd), splat(1.0, simd), splat(2.0, simd), splat(3.0, simd), splat(-1.0, simd)
    place, most = where_greater(z1, z0, n1, n0), where_greater(z1, z0, z1, z0)
    place, most = where_greater(z2, most, n2, place), where_greater(z2, most, z2, most)
    place, most = where_greater(z3, most, n3, place), where_greater(z3, most, z3, most)
    store(P, chosen, where_greater(most, n0, place, none))
    # where the mask is 0, beyond the last channel, lies another pixel
    store(P, to, where_equal(mask, n0, load(P, to, simd), where_greater(most, n0, most, n0)))


@internal
def forward(P, I, source, target, rows, simd):
    """Write the images of the next stage, and which of a window's four places, by rows, is the first largest.

    The place is -1 where the largest is not positive. simd: as many numbers as a vector of channels has.
    """
    inside, k, wide, windows = source.CHANNELS, source.KERNEL, source.WIDE, rows * source.WINDOWS
    row, run, n = source.WIDTH * inside, k * inside, len(simd)
    taps, filters, places, chosen = k * run, source.FILTERS, source.PLACES, source.CHOSEN
    bias = filters + taps * wide
    for tap in range(taps):
        I[tap] = tap // run * row + tap % run
    for window in range(0, windows, 2):
        second = min(window + 1, windows - 1)
        a, b = I[places + 2 * window], I[places + 2 * second]
        to, to_second = I[places + 2 * window + 1], I[places + 2 * second + 1]
        for v in range(0, wide, n):
            z0 = load(P, bias + v, simd)
            z1, z2, z3, y0, y1, y2, y3 = z0, z0, z0, z0, z0, z0, z0
            for tap in range(taps):
                s, f = I[tap], load(P, filters + tap * wide + v, simd)
                z0 = fma(splat(P[a + s], simd), f, z0)
                z1 = fma(splat(P[a + inside + s], simd), f, z1)
                z2 = fma(splat(P[a + row + s], simd), f, z2)
                z3 = fma(splat(P[a + row + inside + s], simd), f, z3)
                y0 = fma(splat(P[b + s], simd), f, y0)
                y1 = fma(splat(P[b + inside + s], simd), f, y1)
                y2 = fma(splat(P[b + row + s], simd), f, y2)
                y3 = fma(splat(P[b + row + inside + s], simd), f, y3)
            mask = load(P, bias + wide + v, simd)
            keep_largest(P, chosen + window * wide + v, to + v, mask, z0, z1, z2, z3, simd)
            keep_largest(P, chosen + second * wide + v, to_second + v, mask, y0, y1, y2, y3, simd)


@internal
def by_weight(P, I, D, source, target, rows, simd):
    """Add the gradients with respect to weight and bias to the network's gradient, whose address is D."""
    inside, outside, k, wide = source.CHANNELS, target.CHANNELS, source.KERNEL, source.WIDE
    count, row, run, size = source.WINDOWS, source.WIDTH * inside, k * inside, source.HEIGHT * source.WIDTH * inside
    length, shift, zero = -(-run // LANES) * LANES, target.GRADIENT - target.IMAGES, splat(0.0, simd)
    vectors, part, places, chosen = k * length // LANES, max(1, PART // size), source.PLACES, source.CHOSEN
    groups = -(-vectors // GROUP)
    I[0], I[1], I[2], I[3], I[4] = 0, 0, inside, row, row + inside  # from a window to the place of its largest, from -1
    distances, lists = 5, 5 + groups * GROUP
    for vector in range(groups * GROUP):  # of a patch
        p = min(vector, vectors - 1) * LANES
        I[distances + vector] = p // length * row + p % length
    patch = groups * GROUP * LANES + LANES  # sums of a filter and of its bias, before the values of the list
    values = outside * patch - lists
    for at in range(outside * patch):
        P[at] = 0
    for first in range(0, rows, part):
        for o in range(outside):
            stop, total = lists, load(P, (o + 1) * patch - LANES, simd)
            for window in range(first * count, min(first + part, rows) * count):
                # int() of a number would be a function of its own to compile
                at, place = places + 2 * window, np.int64(P[chosen + window * wide + o])
                I[stop] = I[at] + I[1 + place]
                P[stop + values] = P[I[at + 1] + shift + o]
                stop += place >= 0
            store(P, stop + values, zero)
            I[stop] = I[lists]
            for e in range(lists, stop, LANES):
                total = total + load(P, e + values, simd)
            store(P, (o + 1) * patch - LANES, total)
            for group in range(groups):
                d, to = distances + group * GROUP, o * patch + group * GROUP * LANES
                d0, d1, d2, d3, d4 = I[d], I[d + 1], I[d + 2], I[d + 3], I[d + 4]
                z0, z1, z2 = load(P, to, simd), load(P, to + LANES, simd), load(P, to + 2 * LANES, simd)
                z3, z4 = load(P, to + 3 * LANES, simd), load(P, to + 4 * LANES, simd)
                y0, y1, y2, y3, y4 = zero, zero, zero, zero, zero
                for e in range(lists, stop, 2):
                    a, b, g, h = I[e], I[e + 1], splat(P[e + values], simd), splat(P[e + 1 + values], simd)
                    z0 = fma(g, load(P, a + d0, simd), z0)
                    z1 = fma(g, load(P, a + d1, simd), z1)
                    z2 = fma(g, load(P, a + d2, simd), z2)
                    z3 = fma(g, load(P, a + d3, simd), z3)
                    z4 = fma(g, load(P, a + d4, simd), z4)
                    y0 = fma(h, load(P, b + d0, simd), y0)
                    y1 = fma(h, load(P, b + d1, simd), y1)
                    y2 = fma(h, load(P, b + d2, simd), y2)
                    y3 = fma(h, load(P, b + d3, simd), y3)
                    y4 = fma(h, load(P, b + d4, simd), y4)
                store(P, to, z0 + y0)
                store(P, to + LANES, z1 + y1)
                store(P, to + 2 * LANES, z2 + y2)
                store(P, to + 3 * LANES, z3 + y3)
                store(P, to + 4 * LANES, z4 + y4)
    for o in range(outside):
        for e in range((o + 1) * patch - LANES, (o + 1) * patch):
            D[source.BIAS + o] += P[e]
        for channel in range(inside):
            for down in range(k):
                to = source.WEIGHT + ((o * inside + channel) * k + down) * k
                for right in range(k):
                    D[to + right] += P[o * patch + down * length + right * inside + channel]


@internal
def by_image(P, I, source, target, rows, simd):
    """Write the gradient with respect to the images of this stage."""
    inside, k, outside, wide = source.CHANNELS, source.KERNEL, target.CHANNELS, source.WIDE
    row, length, places, chosen = source.WIDTH * inside, patch_length(source), source.PLACES, source.CHOSEN
    patches, filter_length = source.PATCHES, (k + 3) * length
    gradient, shift = source.GRADIENT - source.IMAGES, target.GRADIENT - target.IMAGES
    for at in range(source.GRADIENT, source.GRADIENT + rows * source.HEIGHT * row):
        P[at] = 0
    for window in range(rows * source.WINDOWS):
        at, to, n = I[places + 2 * window] + gradient, I[places + 2 * window + 1] + shift, np.int64(0)
        for o in range(outside):
            place = np.int64(P[chosen + window * wide + o])
            I[n] = patches + ((place & 1) * outside + o) * filter_length + (1 - (place >> 1)) * length
            P[n] = P[to + o]
            n += place >= 0
        for down in range(0, k + 1, 2):
            for r in range(0, length, GROUP * LANES):
                to, step = at + down * row + r, down * length + r
                low = to + row
                z0, z1 = load(P, to, simd), load(P, to + LANES, simd)
                z2, z3 = load(P, to + 2 * LANES, simd), load(P, to + 3 * LANES, simd)
                z4, y0 = load(P, to + 4 * LANES, simd), load(P, low, simd)
                y1, y2 = load(P, low + LANES, simd), load(P, low + 2 * LANES, simd)
                y3, y4 = load(P, low + 3 * LANES, simd), load(P, low + 4 * LANES, simd)
                for e in range(n):
                    g, upper = splat(P[e], simd), I[e] + step
                    lower = upper + length
                    z0 = fma(g, load(P, upper, simd), z0)
                    z1 = fma(g, load(P, upper + LANES, simd), z1)
                    z2 = fma(g, load(P, upper + 2 * LANES, simd), z2)
                    z3 = fma(g, load(P, upper + 3 * LANES, simd), z3)
                    z4 = fma(g, load(P, upper + 4 * LANES, simd), z4)
                    y0 = fma(g, load(P, lower, simd), y0)
                    y1 = fma(g, load(P, lower + LANES, simd), y1)
                    y2 = fma(g, load(P, lower + 2 * LANES, simd), y2)
                    y3 = fma(g, load(P, lower + 3 * LANES, simd), y3)
                    y4 = fma(g, load(P, lower + 4 * LANES, simd), y4)
                store(P, to, z0)
                store(P, to + LANES, z1)
                store(P, to + 2 * LANES, z2)
                store(P, to + 3 * LANES, z3)
                store(P, to + 4 * LANES, z4)
                store(P, low, y0)
                store(P, low + LANES, y1)
                store(P, low + 2 * LANES, y2)
                store(P, low + 3 * LANES, y3)
                store(P, low + 4 * LANES, y4)
