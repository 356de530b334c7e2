"""Named random streams: draws depend on seed, purpose and index alone, not on order, blocks or machine."""

import numpy as np

# A purpose's spawn key is its position: new purposes come last, or the draws of all others change.
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
    "channel",
    "test",
)
_PURPOSE = {name: number for number, name in enumerate(_PURPOSES)}


def stream(seed: int, purpose: str, *index: int) -> np.random.Generator:
    """Return the generator of a purpose at an index, such as ``stream(seed, "samples", round, client)``.

    Purposes have disjoint spawn keys. So two algorithms with the same seed draw the same samples and have the same
    active clients, whatever else they draw (common random numbers).
    """
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(_PURPOSE[purpose], *index))))


def random_client(seed: int, round: int, active: int) -> int:
    """Draw a client uniformly from the active clients of a round and return its position among them."""
    return int(stream(seed, "algorithm", round, 1).integers(active))
