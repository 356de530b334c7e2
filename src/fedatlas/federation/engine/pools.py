"""Pools that compute blocks of clients one after another, or on threads. Results come in the order of the blocks."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any


def pool(threads: int) -> "Threads | Serial":
    """Return a pool of this many threads, a context manager with ``map``."""
    return Threads(threads) if threads > 1 else Serial()


class Threads(ThreadPoolExecutor):
    """A pool whose map runs only a little ahead of its consumer, so that few results are in memory at once."""

    # an executor's map has more arguments, which the engine does not use
    def map(self, work: Callable[[Any], Any], blocks: Iterable[Any]) -> Iterator[Any]:  # type: ignore[override]
        """Yield the results of work on the blocks, in their order."""
        pending: deque[Future[Any]] = deque()
        for block in blocks:
            pending.append(self.submit(work, block))
            if len(pending) > self._max_workers:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()


class Serial:
    """A pool without threads: each block is computed when its result is consumed."""

    map = staticmethod(map)

    def __enter__(self) -> "Serial":
        return self

    def __exit__(self, *exc: object) -> None:
        pass
