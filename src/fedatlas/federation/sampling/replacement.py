"""Sampling with replacement: all draws are independent and uniform over a client's rows.

Algorithms that pool all samples of a round get multinomial counts where minibatches are many times the data.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fedatlas.federation.sampling import SampledProblem, Sampler, Sampling
from fedatlas.federation.streams import states, stream

STREAM_DRAWS = 1 << 12  # draws from one stream: to create a stream costs more than a thousand of them
COUNTED = 16  # draws for each row of the data beyond which a binomial for each row costs less


@dataclass(frozen=True, kw_only=True)
class Replacement(Sampling):
    """Each minibatch is drawn independently, with replacement, from the client's rows."""

    name = "replacement"

    def bind(self, problem: SampledProblem, clients: int, batch: int | None, seed: int) -> Sampler:
        return ReplacementSampler(problem, clients, batch, seed)


class ReplacementSampler(Sampler):
    """Independent draws with replacement. Arguments are those of `Sampler`."""

    def __init__(self, problem: SampledProblem, clients: int, batch: int | None, seed: int) -> None:
        super().__init__(problem, clients, batch, seed)
        self._last_group: tuple[tuple[int, int], np.ndarray] | None = None  # its key (group, steps), and its draws

    def draw(self, round: int, active: np.ndarray, steps: int) -> np.ndarray | None:
        """Draw the minibatches of some clients in a round; see `Sampler.draw`.

        Where all clients draw from all rows, one stream serves them all: a stream for each would cost more than its
        gradients.
        """
        if self.batch is None:
            return None
        if self.problem.partition is not None:
            return np.stack([self._minibatches(*client, steps) for client in self._generators_and_rows(round, active)])
        draws = self.rounds(round, round + 1, steps)[0]
        return draws if len(active) == self.clients else draws[active]

    def client(self, round: int, i: int, steps: int) -> np.ndarray:
        """Draw the minibatches of client i of a partition in a round: (steps, batch)."""
        return self._minibatches(*next(self._generators_and_rows(round, np.array([i]))), steps)

    def _minibatches(self, rng: np.random.Generator, rows: np.ndarray, steps: int) -> np.ndarray:
        positions = rng.integers(len(rows), size=steps * self.size)
        return self._with_variants(rows[positions], rng).reshape(steps, self.size)

    def rounds(self, start: int, stop: int, steps: int, fill: Callable[..., None] | None = None) -> np.ndarray:
        """Return what all clients draw from all rows in the rounds from start to stop: (stop - start, m, steps, batch).

        A stream serves a group of as many rounds as make STREAM_DRAWS draws, a number that depends on the shape alone:
        so the draws of a round do not depend on the rounds that are asked for with it.

        Args:
            start: First round.
            stop: Round after the last one.
            steps: Steps of a round.
            fill: Compiled function that draws what NumPy draws, for rows without variants: `lockstep.draw`.
        """
        length = max(1, STREAM_DRAWS // (self.clients * steps * self.size))
        first, last = start // length, -(-stop // length)
        if fill is None or last - first == 1 < length:
            groups = [self._group(group, length, steps) for group in range(first, last)]
            draws = groups[0] if len(groups) == 1 else np.concatenate(groups)
        else:
            draws = np.empty(((last - first) * length, self.clients, steps, self.size), np.int32)
            words = states(self.seed, "samples", (), np.arange(first, last), steps)
            fill(words, self.problem.samples, draws.reshape(last - first, -1))
        return draws[start - first * length : stop - first * length]

    def _group(self, group: int, length: int, steps: int) -> np.ndarray:
        """Return the draws of a group of rounds, (length, m, steps, batch). The last group is cached."""
        if self._last_group is None or self._last_group[0] != (group, steps):
            self._last_group = (group, steps), self._draw_group(group, length, steps)
        return self._last_group[1]

    def _draw_group(self, group: int, length: int, steps: int) -> np.ndarray:
        """Return the draws of a group of rounds, which other samplers take from another generator."""
        shape = (length, self.clients, steps, self.size)
        rng = stream(self.seed, "samples", group, steps)
        return self._with_variants(rng.integers(self.problem.samples, size=shape, dtype=np.int32), rng)

    def pool(self, round: int, active: np.ndarray, steps: int) -> np.ndarray | None:
        """Return the samples of all active clients as those of one client; see `Sampler.pool`.

        They are those of ``counts`` where that has some, and those of ``draw`` otherwise.
        """
        counts = self.counts(round, len(active), steps)
        if counts is None:
            return super().pool(round, active, steps)
        return np.repeat(np.arange(self.problem.samples), counts).reshape(1, steps, -1)

    def counts(self, round: int, clients: int, steps: int) -> np.ndarray | None:
        """Return how often each row of the data is among the samples of a number of clients: multinomial, (n,).

        None unless there are more than COUNTED samples for each row: below, the samples of ``draw``, which other
        algorithms get as well, are counted instead.
        """
        size, n = clients * steps * self.size, self.problem.samples
        if self.problem.partition is not None or self.problem.variants > 1 or size <= COUNTED * n:
            return None
        return stream(self.seed, "counts", round, steps).multinomial(size, np.full(n, 1 / n))
