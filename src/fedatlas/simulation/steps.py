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

    problem: where gradients come from; clients: (m,) ids; draws: (m, K, b) sample indices, or None for full local
    gradients at each step; K: local steps; round: t, from 0; cost: counter of gradients and samples. local: the
    setting's local steps, of which ``Algorithm.length`` made K. chosen: gives the id of the client that is drawn in
    this round, and the number of active ones.
    """

    local = chosen = None

    def __init__(self, problem, clients, draws, K, round, cost):
        self.problem, self.clients, self.draws, self.K, self.round, self._cost = problem, clients, draws, K, round, cost

    def __len__(self):
        return self.K

    def __iter__(self):
        for k in range(self.K):
            draws = None if self.draws is None else self.draws[:, k]
            yield Gradient(self._batch(draws), self._cost, full=draws is None)

    def _batch(self, draws):
        return self.problem.full_batch(self.clients) if draws is None else self.problem.batch(self.clients, draws)

    def full(self, y):
        """Full local gradients G_i(y): (m, d)."""
        batch = self.problem.full_batch(self.clients)
        self._cost.count(batch, full=True)
        return batch.grad(y)

    def mean(self, y):
        """The mean of the round's K stochastic gradients, all taken at the same y: (m, d)."""
        if self.draws is None:
            return self.full(y)
        batch = self._batch(self.draws.reshape(len(self.draws), -1))
        self._cost.count(batch, calls=self.K)
        return batch.grad(y)

    def pick(self, v):
        """v of the drawn client times the number of active ones, 0 for all others: the mean is the drawn client's v."""
        one, active = self.chosen()
        picked = v * 0
        picked[self.clients == one] = active * v[self.clients == one]
        return picked

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
