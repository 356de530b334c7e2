"""Perceived distance of two colours, also for people with a colour vision deficiency.

The distance is CIEDE2000 (CIE 142-2001; formulas of Sharma, Wu and Dalal 2005, "The CIEDE2000 color-difference
formula", Color Research and Application 30). People distinguish colours at distance 1 side by side on large areas; thin
lines and small markers need 10 or more.
"""

import functools
import math
from collections.abc import Sequence

# Colours as people without one kind of cone see them, on linear RGB: Machado, Oliveira and Fernandes 2009, "A
# physiologically-based model for simulation of color vision deficiency", IEEE Transactions on Visualization and
# Computer Graphics 15(6), severity 1.
VISION = {
    "normal": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
TO_XYZ = ((0.4124564, 0.3575761, 0.1804375), (0.2126729, 0.7151522, 0.0721750), (0.0193339, 0.1191920, 0.9503041))
WHITE = (0.95047, 1.0, 1.08883)  # D65

FAR = 9.5  # distance from which on colours of lines differ enough
Triple = tuple[float, float, float]


def perceived_distance(first: str, second: str) -> float:
    """Return the smallest CIEDE2000 of two colours ``#rrggbb`` over all kinds of colour vision."""
    return min(ciede2000(perceived_lab(first, vision), perceived_lab(second, vision)) for vision in VISION)


@functools.cache
def perceived_lab(colour: str, vision: str) -> Triple:
    """Return a colour ``#rrggbb`` in CIELAB as people with a kind of vision, a key of ``VISION``, perceive it."""
    encoded = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in encoded]
    light = [min(max(_product(row, linear), 0.0), 1.0) for row in VISION[vision]]
    x, y, z = (_product(row, light) / white for row, white in zip(TO_XYZ, WHITE, strict=True))
    fx, fy, fz = (v ** (1 / 3) if v > 216 / 24389 else (24389 / 27 * v + 16) / 116 for v in (x, y, z))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


def _product(row: Triple, values: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(row, values, strict=True))


def ciede2000(first: Triple, second: Triple) -> float:
    """Return the CIEDE2000 of two colours in CIELAB, in the notation of Sharma, Wu and Dalal."""
    (l1, a1, b1), (l2, a2, b2) = first, second
    chroma = ((math.hypot(a1, b1) + math.hypot(a2, b2)) / 2) ** 7
    g = 0.5 * (1 - math.sqrt(chroma / (chroma + 25.0**7)))
    c1, c2 = math.hypot((1 + g) * a1, b1), math.hypot((1 + g) * a2, b2)
    h1, h2 = math.degrees(math.atan2(b1, (1 + g) * a1)) % 360, math.degrees(math.atan2(b2, (1 + g) * a2)) % 360
    turn = (h2 - h1 + 180) % 360 - 180 if c1 * c2 else 0.0
    hue = (h1 + turn / 2) % 360 if c1 * c2 else h1 + h2
    lightness, c = (l1 + l2) / 2, (c1 + c2) / 2
    t = (
        1
        - 0.17 * math.cos(math.radians(hue - 30))
        + 0.24 * math.cos(math.radians(2 * hue))
        + 0.32 * math.cos(math.radians(3 * hue + 6))
        - 0.20 * math.cos(math.radians(4 * hue - 63))
    )
    dl = (l2 - l1) / (1 + 0.015 * (lightness - 50) ** 2 / math.sqrt(20 + (lightness - 50) ** 2))
    dc = (c2 - c1) / (1 + 0.045 * c)
    dh = 2 * math.sqrt(c1 * c2) * math.sin(math.radians(turn / 2)) / (1 + 0.015 * c * t)
    rotation = (
        -2 * math.sqrt(c**7 / (c**7 + 25.0**7)) * math.sin(math.radians(60 * math.exp(-(((hue - 275) / 25) ** 2))))
    )
    return math.sqrt(dl**2 + dc**2 + dh**2 + rotation * dc * dh)
