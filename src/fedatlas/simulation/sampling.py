"""Minibatch draws: a function of (seed, round, client) alone, so every algorithm sees the same samples."""

import numpy as np

from fedatlas.errors import UserError
from fedatlas.simulation.streams import stream

KINDS = ("replacement", "epochs")


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
        if self.problem.partition is None and self.kind == "replacement":
            # one draw for all clients: drawing for each would cost more than their gradients
            shape = (self.clients, K, self.batch)
            rng = stream(self.seed, "samples", round)
            draws = self._seen(rng.integers(self.problem.samples, size=shape, dtype=np.int32), rng)
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
