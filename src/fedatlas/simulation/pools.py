"""How blocks of clients are computed: one after another, or on threads. Results come in the order of blocks."""

from collections import deque
from concurrent.futures import ThreadPoolExecutor


def pool(threads):
    """A pool of so many threads, as a context manager with ``map``."""
    return Threads(threads) if threads > 1 else Serial()


class Threads(ThreadPoolExecutor):
    """A pool whose map runs only a little ahead of what is taken: few blocks of results are alive at once."""

    def map(self, work, blocks):
        pending = deque()
        for block in blocks:
            pending.append(self.submit(work, block))
            if len(pending) > self._max_workers:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()


class Serial:
    """A pool of one: work is done where it is asked for."""

    map = staticmethod(map)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        return False
