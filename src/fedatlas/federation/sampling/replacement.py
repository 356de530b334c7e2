"""Sampling with replacement: all draws are independent and uniform over a client's rows.

Algorithms that pool all samples of a round are given multinomial counts where minibatches are many times the data.
"""

from typing import Any

import numpy as np

from fedatlas.federation.sampling.base import Sampler
from fedatlas.federation.streams import stream

TOGETHER = 1 << 12  # draws from one stream: making a stream costs more than a thousand of them
COUNTED = 16  # draws for each row of the data beyond which a binomial for each row costs less


class Replacement(Sampler):
    """Each minibatch is drawn independently, with replacement, from the client's rows."""

    name = "replacement"

    def __init__(self, problem: Any, clients: int, batch: int | None, seed: int) -> None:
        super().__init__(problem, clients, batch, seed)
        self._held: tuple[tuple[int, int], np.ndarray] | None = None  # draws of the last group of rounds, and its key

    def draw(self, round: int, active: np.ndarray, steps: int) -> np.ndarray | None:
        """Draws of some clients in a round: (len(active), steps, batch), or None where gradients are full.

        Where all clients draw from all rows, one stream serves them all: a stream for each would cost more than its
        gradients.
        """
        if self.batch is None or self.problem.partition is not None:
            return super().draw(round, active, steps)
        draws = self.rounds(round, round + 1, steps)[0]
        return draws if len(active) == self.clients else draws[active]

    def client(self, round: int, i: int, steps: int) -> np.ndarray:
        """Draws of one client of a partition in a round: (steps, batch)."""
        rng, own = self._own(round, i)
        chosen = rng.integers(len(own), size=steps * self.size)
        return self._with_variants(own[chosen], rng).reshape(steps, self.size)

    def rounds(self, start: int, stop: int, steps: int) -> np.ndarray:
        """What all clients draw from all rows in several rounds: (stop - start, M, steps, batch).

        A stream serves as many rounds as make TOGETHER draws, a number that depends on the shape alone.
        """
        run = max(1, TOGETHER // (self.clients * steps * self.size))
        parts = []
        while start < stop:
            group, first = divmod(start, run)
            last = min(run, first + stop - start)
            parts.append(self._group(group, run, steps)[first:last])
            start += last - first
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _group(self, group: int, run: int, steps: int) -> np.ndarray:
        if self._held is None or self._held[0] != (group, steps):
            self._held = (group, steps), self._drawn(group, run, steps)
        return self._held[1]

    def _drawn(self, group: int, run: int, steps: int) -> np.ndarray:
        """The draws of a group of ``run`` rounds: (run, M, steps, batch)."""
        shape = (run, self.clients, steps, self.size)
        rng = stream(self.seed, "samples", group, steps)
        return self._with_variants(rng.integers(self.problem.samples, size=shape, dtype=np.int32), rng)

    def pool(self, round: int, active: np.ndarray, steps: int) -> np.ndarray | None:
        """The samples of all active clients as one client's: (1, steps, len(active) batch); None for full gradients.

        They are those of ``counts`` where that has some, and those of ``draw`` otherwise.
        """
        counts = self.counts(round, len(active), steps)
        if counts is None:
            return super().pool(round, active, steps)
        return np.repeat(np.arange(self.problem.samples), counts).reshape(1, steps, -1)

    def counts(self, round: int, clients: int, steps: int) -> np.ndarray | None:
        """How often each row of the data is among the samples of a number of clients: multinomial, (n,).

        None unless there are more than COUNTED samples for each row: below, the samples that other algorithms see are
        counted instead.
        """
        size, n = clients * steps * self.size, self.problem.samples
        if self.problem.partition is not None or self.problem.variants > 1 or size <= COUNTED * n:
            return None
        return stream(self.seed, "counts", round, steps).multinomial(size, np.full(n, 1 / n))
