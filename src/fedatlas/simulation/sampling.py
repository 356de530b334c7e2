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

    def draw(self, round, active, K):
        """Sample indices (len(active), K, batch) of the active clients; None where gradients are full."""
        if self.batch is None:
            return None
        if self.problem.partition is None and self.kind == "replacement":
            # one draw for all clients: drawing for each would cost more than their gradients
            shape = (self.clients, K, self.batch)
            draws = stream(self.seed, "samples", round).integers(self.problem.samples, size=shape, dtype=np.int32)
            return draws if len(active) == self.clients else draws[active]
        return np.stack([self._client(round, i, K) for i in active])

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
