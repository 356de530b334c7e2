"""Named random streams: what is drawn depends on (seed, purpose, index) alone, never on order, blocks or machine."""

import numpy as np

_PURPOSES = (
    "samples",
    "participation",
    "start",
    "length",
    "algorithm",
    "noise",
    "problem",
    "evaluation",
    "availability",
    "counts",
)
_PURPOSE = {name: number for number, name in enumerate(_PURPOSES)}


def stream(seed, purpose, *index):
    """Generator for one purpose at one index, e.g. ``stream(seed, "samples", round, client)``.

    Purposes have disjoint spawn keys, so that two algorithms that share a seed draw the same samples and meet the same
    clients whatever else they draw (common random numbers).
    """
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(_PURPOSE[purpose], *index))))


def drawn_client(seed, round, active):
    """Position among the active clients of the one that is drawn uniformly in a round."""
    return int(stream(seed, "algorithm", round, 1).integers(active))
