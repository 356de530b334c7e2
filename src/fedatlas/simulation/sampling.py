"""Minibatch draws: a function of seed, round, client and shape alone, so every algorithm sees the same samples.

But for minibatches of many times the data: algorithms that pool all samples of a round are given multinomial counts.
"""

import numpy as np

from fedatlas.errors import UserError
from fedatlas.simulation.streams import stream

KINDS = ("replacement", "epochs")
TOGETHER = 1 << 12  # draws from one stream: making a stream costs more than a thousand of them
COUNTED = 16  # draws for each row of data beyond which a binomial for each row costs less


class Sampler:
    """Draws the samples of a round.

    problem: has ``samples`` (rows of data), ``partition`` (None: every client draws from all of it). batch: samples a
    step, or None for full local gradients. kind: ``replacement`` (i.i.d.) or ``epochs`` (reshuffled passes over the
    client's data, without replacement inside a pass).
    """

    def __init__(self, problem, clients, batch, kind, seed):
        if kind not in KINDS:
            raise UserError(f"sampling: unknown kind {kind!r}; one of {', '.join(KINDS)}")
        if batch is not None and batch < 1:
            raise UserError(f"batch is {batch}; it must be at least 1, or null for full local gradients")
        self.problem, self.clients, self.batch, self.kind, self.seed = problem, clients, batch, kind, seed
        self._held = None

    def draw(self, round, active, K):
        """Sample indices (len(active), K, batch) of the active clients; None where gradients are full."""
        if self.batch is None:
            return None
        if self._one_for_all:
            draws = self.rounds(round, round + 1, K)[0]
            return draws if len(active) == self.clients else draws[active]
        return np.stack([self._client(round, i, K) for i in active])

    @property
    def _one_for_all(self):
        """Whether one stream serves all clients: one for each would cost more than their gradients."""
        return self.problem.partition is None and self.kind == "replacement" and self.batch is not None

    def rounds(self, start, stop, K):
        """What all clients draw in several rounds, with replacement from all of the data: (stop - start, M, K, batch).

        A stream is drawn from for as many rounds as make TOGETHER draws, a number that depends on the shape alone.
        """
        run = max(1, TOGETHER // (self.clients * K * self.batch))
        parts = []
        while start < stop:
            group, first = divmod(start, run)
            last = min(run, first + stop - start)
            parts.append(self._group(group, run, K)[first:last])
            start += last - first
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _group(self, group, run, K):
        if self._held is None or self._held[0] != (group, K):
            shape = (run, self.clients, K, self.batch)
            draws = stream(self.seed, "samples", group, K).integers(self.problem.samples, size=shape, dtype=np.int32)
            self._held = (group, K), draws
        return self._held[1]

    def pool(self, round, active, K):
        """The samples of all active clients as one client's: (1, K, len(active) batch); None where gradients are full.

        They are those of ``draw``, or those of ``counts`` where it has some.
        """
        counts = self.counts(round, len(active), K)
        if counts is not None:
            return np.repeat(np.arange(self.problem.samples), counts).reshape(1, K, -1)
        draws = self.draw(round, active, K)
        return None if draws is None else draws.transpose(1, 0, 2).reshape(1, K, -1)

    def counts(self, round, clients, K):
        """How often each row of the data is among the samples of a number of clients: (n,) of multinomial distribution.

        None unless they are more than COUNTED for each row: below, the samples that other algorithms see are counted
        instead.
        """
        size, n = clients * K * (self.batch or 0), self.problem.samples
        if not self._one_for_all or size <= COUNTED * n:
            return None
        return stream(self.seed, "counts", round, K).multinomial(size, np.full(n, 1 / n))

    def _client(self, round, i, K):
        rng = stream(self.seed, "samples", round, int(i))
        own = (
            self.problem.partition.client(i) if self.problem.partition is not None else np.arange(self.problem.samples)
        )
        need = K * self.batch
        if self.kind == "replacement":
            chosen = rng.integers(len(own), size=need)
        else:
            passes = -(-need // len(own))
            chosen = np.concatenate([rng.permutation(len(own)) for _ in range(passes)])[:need]
        return own[chosen].reshape(K, self.batch)
