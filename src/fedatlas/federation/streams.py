"""Named random streams: what is drawn depends on seed, purpose and index alone, not on order, blocks or machine."""

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
    "validation",
)
_PURPOSE = {name: number for number, name in enumerate(_PURPOSES)}


def stream(seed: int, purpose: str, *index: int) -> np.random.Generator:
    """The generator of one purpose at one index, such as ``stream(seed, "samples", round, client)``.

    Purposes have disjoint spawn keys. So two algorithms with the same seed draw the same samples and have the same
    active clients, whatever else they draw (common random numbers).
    """
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(_PURPOSE[purpose], *index))))


def random_client(seed: int, round: int, active: int) -> int:
    """Position among the active clients of the one that is drawn uniformly in a round."""
    return int(stream(seed, "algorithm", round, 1).integers(active))
