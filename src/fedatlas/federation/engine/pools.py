"""Blocks of clients, pools that compute them one after another or on threads, and the choice between both.

Results come in the order of the blocks.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

TRIALS = 3  # last rounds of each way whose times are compared
CLEAR = 1.25  # ratio of times that needs no more trials
AGAIN = 50  # rounds after which the slower way is tried again, since other jobs come and go


def pool(threads: int) -> "Threads | Serial":
    """Return a pool of this many threads, a context manager with ``map``."""
    return Threads(threads) if threads > 1 else Serial()


class Threads(ThreadPoolExecutor):
    """A pool whose map runs only a little ahead of its consumer, so that few results are in memory at once."""

    def __init__(self, threads: int) -> None:
        super().__init__(threads)
        self.threads = threads

    # an executor's map has more arguments, which the engine does not use
    def map(self, work: Callable[[Any], Any], blocks: Iterable[Any]) -> Iterator[Any]:  # type: ignore[override]
        """Yield the results of work on the blocks, in their order."""
        pending: deque[Future[Any]] = deque()
        for block in blocks:
            pending.append(self.submit(work, block))
            if len(pending) > self.threads:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()


class Serial:
    """A pool without threads: each block is computed when its result is consumed."""

    threads = 1
    map = staticmethod(map)

    def __enter__(self) -> "Serial":
        return self

    def __exit__(self, *exc: object) -> None:
        pass


class Pace:
    """The choice of threads for the rounds of a run: as many as are allowed, or one where that is faster.

    Python computes on one thread at a time, and NumPy's calls on small arrays end before another thread has begun. So
    the first rounds take turns, and later ones follow the faster way, which changes their time alone.

    Attributes:
        threads: Threads of the next round.

    Args:
        most: Threads that are allowed.
    """

    def __init__(self, most: int) -> None:
        self.threads, self._most, self._rounds = most, most, 0
        self._times: dict[int, deque[float]] = {threads: deque(maxlen=TRIALS) for threads in (1, most)}

    def add(self, seconds: float) -> None:
        """Add the time of a round, on the wall and for each local step of a client; the first one is left out."""
        if self._most == 1:
            return
        if self._rounds:
            self._times[self.threads].append(seconds)
        self._rounds += 1
        other, times = self._most if self.threads == 1 else 1, self._times
        if not all(times.values()):
            self.threads = other
            return
        faster = min(times, key=lambda threads: min(times[threads]))
        slower = self._most if faster == 1 else 1
        clear = min(times[slower]) >= CLEAR * min(times[faster])
        if not clear and min(map(len, times.values())) < TRIALS:
            self.threads = other
        else:
            self.threads = faster if self._rounds % AGAIN else slower


class Block(NamedTuple):
    """Clients that are computed together.

    Attributes:
        ids: Ids of the clients, (m,).
        positions: Their positions among the clients of the round.
    """

    ids: np.ndarray
    positions: slice


@dataclass(frozen=True)
class Division:
    """The blocks into which the clients of a round are divided.

    Attributes:
        size: Largest number of clients of a block.
        pace: Threads of the next round: there is a block for each of them.
        samples: Samples of all clients, (clients,).
        passes: Whether the steps of a client follow from its samples, so that those of a block have equally many.
    """

    size: int
    pace: Pace
    samples: np.ndarray
    passes: bool

    def blocks(self, members: np.ndarray) -> Iterator[Block]:
        """Yield blocks of clients that take the same steps. members: Clients of the round, (m,)."""
        size, ends = min(self.size, -(-len(members) // self.pace.threads)), [len(members)]
        if self.passes:
            ends = [*(np.flatnonzero(np.diff(self.samples[members])) + 1), *ends]
        for begin, end in zip([0, *ends], ends, strict=False):
            for start in range(begin, end, size):
                positions = slice(start, min(start + size, end))
                yield Block(members[positions], positions)
