"""What a client sees of its data during one round: minibatch gradients, counted."""

import functools
from dataclasses import dataclass

import numpy as np

from fedatlas import arrays
from fedatlas.errors import UserError
from fedatlas.streams import drawn_client


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


@dataclass(frozen=True)
class Group:
    """Clients that compute.

    ids: (m,). draws: (m, K, b), a list of m arrays for whole passes, or None for full gradients. merged: clients whose
    minibatches each of them holds.
    """

    ids: object
    draws: object
    merged: int = 1

    def only(self, client):
        """One of the clients."""
        at = np.flatnonzero(self.ids == client)
        draws = self.draws[at[0] : at[0] + 1] if self.draws is not None else None
        return Group(self.ids[at], draws, self.merged)

    def part(self, place):
        """Draws of a block of clients that take the same steps."""
        own = None if self.draws is None else self.draws[place]
        return np.stack(own) if isinstance(own, list) else own


@dataclass(frozen=True)
class Round:
    """What there is to know of a round beside data.

    number: t, from 0. K: local steps; local: those of the setting, of which ``Algorithm.length`` made K. batch: of
    whole passes, samples of a minibatch. active: ids of the active clients. seed: of the run. chances: (clients,)
    probabilities to be active, or None if nobody knows. wanted: names that ``Steps.record`` keeps. like: a vector of
    the algorithm's.
    """

    number: int
    K: int
    local: int | None = None
    batch: int | None = None
    active: object = None
    seed: int = 0
    chances: object = None
    wanted: tuple = ()
    like: object = None

    @functools.cached_property
    def drawn(self):
        """Id of one active client, drawn uniformly."""
        return int(self.active[drawn_client(self.seed, self.number, len(self.active))])


class Steps:
    """The local steps of a block of m clients in one round: iterating yields K minibatch gradients.

    problem: where gradients come from; clients: (m,) ids; draws: (m, K, b) draws of a Sampler, or None for full local
    gradients at each step; if the round's batch is given, (m, epochs, n) draws of whole passes, each of which is cut
    into minibatches of so many samples and a last one of the rest. cost: counter of gradients and samples.
    """

    def __init__(self, problem, clients, draws, round, cost):
        self.problem, self.clients, self.draws, self._round, self._cost = problem, clients, draws, round, cost
        self.records = {name: [] for name in round.wanted}
        self.cuts, self.K = None, round.K
        if draws is not None:
            _, passes, width = draws.shape
            step = round.batch or width
            self.cuts = [(e, slice(at, at + step)) for e in range(passes) for at in range(0, width, step)]
            self.K = len(self.cuts)

    @property
    def round(self):
        """t, from 0."""
        return self._round.number

    @property
    def local(self):
        """Local steps of the setting, of which ``Algorithm.length`` made those of the round."""
        return self._round.local

    def __len__(self):
        return self.K

    @property
    def p(self):
        """Probabilities with which the clients were to be active this round: (m, 1)."""
        if self._round.chances is None:
            raise UserError("the probabilities of this participation are unknown: take an algorithm that does without")
        return arrays.column(self._round.chances[self.clients], self._round.like)

    def __iter__(self):
        if self.draws is None:
            for _ in range(self.K):
                yield Gradient(self._batch(None), self._cost, full=True)
        else:
            for cut in self.cuts:
                yield Gradient(self._batch(self.draws[:, *cut]), self._cost, full=False)

    def _batch(self, draws):
        return self.problem.full_batch(self.clients) if draws is None else self.problem.batch(self.clients, draws)

    def record(self, **values):
        """Note values of the current local step, (m, 1) each or one for all; kept only where the setting asks."""
        for name in values.keys() & self.records.keys():
            self.records[name].append(arrays.to_numpy(arrays.rows(values[name], len(self.clients)))[:, 0])

    @property
    def share(self):
        """Samples of a minibatch over samples of its client, |B| / m_i: (m, 1)."""
        partition, m = self.problem.partition, len(self.clients)
        sizes = np.full(m, self.problem.samples) if partition is None else partition.sizes[self.clients]
        return (sizes if self.draws is None else np.full(m, self.draws.shape[2]))[:, None] / sizes[:, None]

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

    def pick(self, v):
        """v of the drawn client times the number of active ones, 0 for all others: the mean is the drawn client's v."""
        return self._only(self._round.drawn, v)

    def first(self, v):
        """v of the active client of the lowest id times the number of active ones, 0 for all others."""
        return self._only(self._round.active.min(), v)

    def _only(self, client, v):
        picked, mine = v * 0, self.clients == client
        picked[mine] = len(self._round.active) * v[mine]
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
