"""Named random streams: draws depend on seed, purpose and index alone, not on order, blocks or machine."""

import functools
from typing import Any

import numpy as np
from numpy.random.bit_generator import ISeedSequence

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


def streams(seed: int, purpose: str, *index: int, last: np.ndarray) -> list[np.random.Generator]:
    """Return the generators ``stream(seed, purpose, *index, k)`` of all numbers k, in a fraction of the time.

    Args:
        seed: Seed.
        purpose: Purpose of the streams.
        *index: Numbers below 2^32 that all of them share.
        last: Numbers k, (m,), below 2^32.
    """
    if len(last) < 3:
        return [stream(seed, purpose, *index, int(k)) for k in last]
    seeds: list[Any] = [_State(words) for words in states(seed, purpose, index, last)]
    return [np.random.Generator(np.random.PCG64(words)) for words in seeds]


def states(seed: int, purpose: str, before: tuple[int, ...], numbers: np.ndarray, *after: int) -> np.ndarray:
    """Return the words from which the generators ``stream(seed, purpose, *before, k, *after)`` start: (m, 4).

    A SeedSequence hashes the words of its key one after another into a pool of four, and the pool into the state of a
    generator. Here the words that differ, those after them and the state are computed for all k at once.

    Args:
        seed: Seed.
        purpose: Purpose of the streams.
        before: Numbers below 2^32 that all of them share.
        numbers: Numbers k, (m,), below 2^32.
        *after: Further numbers that all of them share.
    """
    key = _PURPOSE[purpose], *before
    pool: Any = np.random.SeedSequence(seed, spawn_key=key).pool
    # A word of the key takes four steps of the hash, after 16 of the pool; a seed has the first four words.
    steps = 16 + 4 * (len(key) + max(0, -(-int(seed).bit_length() // 32) - 4))
    for column in (numbers, *after):
        words = _hash(np.asarray(column, np.uint32).reshape(-1, 1), 0x43B0D7E5, 0x931E8875, steps, 4)
        pool = pool * np.uint32(0xCA01F9DD) - words * np.uint32(0x4973F715)
        pool, steps = pool ^ (pool >> 16), steps + 4
    words = _hash(np.tile(pool, 2), 0x8B51F9DD, 0x58F38DED, 0, 8)
    return words.astype("<u4").view("<u8").astype(np.uint64)


def _hash(words: np.ndarray, initial: int, factor: int, first: int, count: int) -> np.ndarray:
    """Return words (m, 1) or (m, count) after the steps of the hash from ``first``, one for each column."""
    constants = _constants(initial, factor, first, count)
    words = (words ^ constants[:-1]) * constants[1:]
    return words ^ (words >> 16)


@functools.cache
def _constants(initial: int, factor: int, first: int, count: int) -> np.ndarray:
    """Return the constants of steps of the hash, (count + 1,): the first of a step, and the last of the one before."""
    return np.array([initial * pow(factor, first + k, 1 << 32) % (1 << 32) for k in range(count + 1)], np.uint32)


class _State(ISeedSequence):
    """The state that a SeedSequence has for a generator.

    Args:
        state: Four numbers of 64 bits, as many as PCG64 asks for.
    """

    def __init__(self, state: np.ndarray) -> None:
        self.state = state

    def generate_state(self, n_words: int, dtype: object = np.uint32) -> np.ndarray:
        return self.state


def random_client(seed: int, round: int, active: int) -> int:
    """Draw a client uniformly from the active clients of a round and return its position among them."""
    return int(stream(seed, "algorithm", round, 1).integers(active))
