"""Minibatch draws: a function of seed, round, client and shape alone, so every algorithm sees the same samples.

But for minibatches of many times the data: algorithms that pool all samples of a round are given multinomial counts.
"""

import numpy as np

from fedatlas.errors import UserError
from fedatlas.streams import stream

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

    def draw(self, round, active, K, epochs=None):
        """Draws (len(active), K, batch) of the active clients; None where gradients are full.

        epochs: instead of K steps, whole passes over each client's n_i rows, one permutation each: a list of
        (epochs, n_i).

        A draw is a row of data, or of augmented data ``row + samples * variant``; rows do not depend on variants.
        """
        if self.batch is None:
            return None
        if epochs is not None:
            return [self._passes(round, i, epochs) for i in active]
        if self._one_for_all:
            draws = self.rounds(round, round + 1, K)[0]
            return draws if len(active) == self.clients else draws[active]
        return np.stack([self._client(round, i, K) for i in active])

    def sizes(self, clients):
        """Rows of data of each of some clients, (m,)."""
        if self.problem.partition is None:
            return np.full(len(clients), self.problem.samples)
        return np.asarray(self.problem.partition.sizes)[clients]

    def _passes(self, round, i, epochs):
        rng, own = self._own(round, i)
        return self._seen(own[np.stack([rng.permutation(len(own)) for _ in range(epochs)])], rng)

    @property
    def _one_for_all(self):
        """Whether one stream serves all clients: one for each would cost more than their gradients."""
        return self.problem.partition is None and self.kind == "replacement"

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
            rng = stream(self.seed, "samples", group, K)
            draws = self._seen(rng.integers(self.problem.samples, size=shape, dtype=np.int32), rng)
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
        if not self._one_for_all or self.problem.variants > 1 or size <= COUNTED * n:
            return None
        return stream(self.seed, "counts", round, K).multinomial(size, np.full(n, 1 / n))

    def _client(self, round, i, K):
        rng, own = self._own(round, i)
        need = K * self.batch
        if self.kind == "replacement":
            chosen = rng.integers(len(own), size=need)
        else:
            passes = -(-need // len(own))
            chosen = np.concatenate([rng.permutation(len(own)) for _ in range(passes)])[:need]
        return self._seen(own[chosen], rng).reshape(K, self.batch)

    def _own(self, round, i):
        """A client's generator of the round, and its rows."""
        partition = self.problem.partition
        own = np.arange(self.problem.samples) if partition is None else partition.client(i)
        return stream(self.seed, "samples", round, int(i)), own

    def _seen(self, rows, rng):
        """Rows as draws, each in a variant of its own where the problem has any."""
        if self.problem.variants == 1:
            return rows
        return rows + self.problem.samples * rng.integers(self.problem.variants, size=rows.shape)
