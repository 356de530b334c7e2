"""What a client sees of its data during one round: minibatch gradients, counted."""

import numpy as np


class Gradient:
    """The stochastic gradient on one step's minibatch: every call within a step uses the same samples.

    ``g(y)`` -> (m, d); ``g.value_and_grad(y)`` -> losses (m, 1) and gradients (m, d). y: (m, d) or (d,).
    """

    def __init__(self, batch, cost, full):
        self._batch, self._cost, self._full = batch, cost, full

    def __call__(self, y):
        self._cost.count(self._batch, full=self._full)
        return self._batch.grad(y)

    def value_and_grad(self, y):
        self._cost.count(self._batch, full=self._full)
        return self._batch.value_and_grad(y)


class Steps:
    """The local steps of a block of m clients in one round: iterating yields K minibatch gradients.

    problem: where gradients come from; clients: (m,) ids; draws: (m, K, b) draws of a Sampler, or None for full local
    gradients at each step; K: local steps; round: t, from 0; cost: counter of gradients and samples. batch: of whole
    passes, draws (m, epochs, n): every pass is cut into minibatches of so many samples and a last one of the rest.
    """

    def __init__(self, problem, clients, draws, K, round, cost, batch=None):
        self.problem, self.clients, self.draws, self.round, self._cost = problem, clients, draws, round, cost
        self.cuts = None
        if draws is not None:
            step = batch or draws.shape[2]
            self.cuts = [
                (e, slice(at, at + step)) for e in range(draws.shape[1]) for at in range(0, draws.shape[2], step)
            ]
        self.K = K if draws is None else len(self.cuts)

    def __len__(self):
        return self.K

    def __iter__(self):
        if self.draws is None:
            for _ in range(self.K):
                yield Gradient(self._batch(None), self._cost, full=True)
        else:
            for cut in self.cuts:
                yield Gradient(self._batch(self.draws[:, *cut]), self._cost, full=False)

    def _batch(self, draws):
        return self.problem.full_batch(self.clients) if draws is None else self.problem.batch(self.clients, draws)

    def full(self, y):
        """Full local gradients G_i(y): (m, d)."""
        batch = self.problem.full_batch(self.clients)
        self._cost.count(batch, full=True)
        return batch.grad(y)

    def mean(self, y):
        """The mean of the round's K stochastic gradients, weighed by their samples, all taken at the same y: (m, d)."""
        if self.draws is None:
            return self.full(y)
        batch = self._batch(self.draws.reshape(len(self.draws), -1))
        self._cost.count(batch, calls=self.K)
        return batch.grad(y)

    def prox(self, v, weight):
        """Exact ``argmin_y f_i(y) + weight/2 |y - v|^2`` of each client, where the problem has it: (m, d)."""
        return self.problem.prox(v, weight, self.clients)


class Cost:
    """Gradients and samples asked of a block of m clients, summed over them: whole numbers, whatever the blocks.

    merged: clients whose minibatches each row of the block holds; every one of them would pay for a full gradient.
    """

    def __init__(self, m, merged=1):
        self.m, self.merged, self.gradients, self.samples = m, merged, 0, 0

    def count(self, batch, calls=1, full=False):
        samples = batch.size * self.m if isinstance(batch.size, int) else int(np.sum(batch.size))
        self.gradients += calls * self.m
        self.samples += samples * self.merged if full else samples
