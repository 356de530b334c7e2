"""Workers: processes that compute the clients of a run together.

All workers run the same rounds. Each computes the clients that it owns, and keeps their states. What clients send
reaches all workers, which add it up in the order of the clients, so all have the same state of the server, and its bits
are those of one process. The first worker evaluates, and alone writes files.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from fedatlas.federation.engine.pools import Pace

T = TypeVar("T")


class Block(NamedTuple):
    """Clients that are computed together.

    Attributes:
        ids: Ids of the clients, (m,).
        positions: Their positions among the clients of the round.
        owner: Number of the worker that computes them.
    """

    ids: np.ndarray
    positions: slice
    owner: int = 0


class Transport(Protocol):
    """A way from each worker to all others."""

    @property
    def rank(self) -> int:
        """Number of this worker, from 0."""

    @property
    def size(self) -> int:
        """Number of workers."""

    def broadcast(self, value: Any, source: int) -> Any:
        """Return the value of the worker ``source``. All workers call it in the same order."""


class Workers:
    """The workers of a run, as one of them sees them.

    Args:
        transport: Way to the others, or None for a run of one process.
    """

    def __init__(self, transport: Transport | None = None) -> None:
        self._transport = transport
        self.rank = transport.rank if transport else 0
        self.size = transport.size if transport else 1

    def share(self, compute: Callable[[], T]) -> T:
        """Return what the first worker computes."""
        return self.send(None if self.rank else compute(), 0)

    def gather(self, value: T) -> list[T]:
        """Return the values of all workers, in their order."""
        return [self.send(value, source) for source in range(self.size)]

    def send(self, value: T | None, source: int) -> T:
        """Return the value of the worker ``source``."""
        return value if self._transport is None else self._transport.broadcast(value, source)  # type: ignore

    def owners(self, loads: np.ndarray) -> np.ndarray:
        """Return the number of the worker of each of some clients, (m,): ranges of about equal loads.

        Args:
            loads: Work of each client, (m,), positive.
        """
        before = np.cumsum(loads) - loads / 2
        return np.minimum((before * self.size / loads.sum()).astype(int), self.size - 1)

    def map(
        self, pool: Any, work: Callable[[Block], T], blocks: Iterable[Block], message: Callable[[T], T]
    ) -> Iterator[T]:
        """Yield the results of work on blocks in their order, of which each of several workers computes its own.

        Args:
            pool: Pool that computes the blocks of this worker.
            work: Function of a block.
            blocks: Blocks of all workers.
            message: Function of a result that returns what of it the other workers get.
        """
        blocks = list(blocks)
        results = deque(pool.map(work, [block for block in blocks if block.owner == self.rank]))
        for owner, group in groupby(blocks, lambda block: block.owner):
            own = [results.popleft() for _ in group] if owner == self.rank else []
            messages = self.send([message(result) for result in own], owner)
            yield from own or messages


@dataclass(frozen=True)
class Division:
    """The blocks into which the clients of a round are divided, and the workers that own them.

    Attributes:
        workers: Workers of the run.
        size: Largest number of clients of a block.
        pace: Threads of the next round: there is a block for each of them.
        samples: Samples of all clients, (clients,).
        passes: Whether the steps of a client follow from its samples, so that those of a block have equally many.
        stateful: Whether clients keep a state between rounds: that of the algorithm, or the error of their channel.
    """

    workers: Workers
    size: int
    pace: Pace
    samples: np.ndarray
    passes: bool
    stateful: bool

    def blocks(self, members: np.ndarray) -> Iterator[Block]:
        """Yield blocks of clients of one worker that take the same steps. members: Clients of the round, (m,)."""
        size = min(self.size, -(-len(members) // self.pace.threads))
        owners, ends = self.owners(members), [len(members)]
        if self.passes:
            ends += list(np.flatnonzero(np.diff(self.samples[members])) + 1)
        ends = sorted({*ends, *(np.flatnonzero(np.diff(owners)) + 1)})
        for begin, end in zip([0, *ends], ends, strict=False):
            for start in range(begin, end, size):
                positions = slice(start, min(start + size, end))
                yield Block(members[positions], positions, int(owners[start]))

    def map(self, pool: Any, work: Callable[[Block], T], members: np.ndarray, message: Callable[[T], T]) -> Iterator[T]:
        """Return the results of work on the blocks of some clients, (m,), one by one, as `Workers.map` does."""
        blocks = self.blocks(members)
        return pool.map(work, blocks) if self.workers.size == 1 else self.workers.map(pool, work, blocks, message)

    def own(self, members: np.ndarray) -> Iterator[np.ndarray]:
        """Yield those of some clients, (m,), that belong to this worker, block by block."""
        return (block.ids for block in self.blocks(members) if block.owner == self.workers.rank)

    def owners(self, members: np.ndarray) -> np.ndarray:
        """Return the worker of each of some clients, (m,): always the same one if clients have states."""
        if self.workers.size == 1:
            return np.zeros(len(members), int)
        if self.stateful:
            return self.workers.owners(self.samples)[members]
        return self.workers.owners(self.samples[members])


ALONE = Workers()
"""The workers of a run of one process."""
