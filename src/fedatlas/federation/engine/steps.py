"""What clients see of their data during one round: minibatch gradients, which are counted."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from fedatlas.errors import UserError
from fedatlas.federation import arrays
from fedatlas.federation.arrays import Array
from fedatlas.federation.engine.round import Round
from fedatlas.federation.engine.setting import LOCAL_LOSS


class Gradient:
    """The stochastic gradient on one step's minibatch: every call within a step uses the same samples.

    clip: largest norm of a client's gradient, or None. first: called with the losses (m, 1) of the first call, where a
    step has its iterate.
    """

    def __init__(
        self,
        batch: Any,
        cost: "Cost",
        full: bool,
        clip: float | None = None,
        first: Callable[[Array], None] | None = None,
    ) -> None:
        self._batch, self._cost, self._full, self._clip, self._first = batch, cost, full, clip, first

    def __call__(self, y: Array) -> Array:
        """Gradients (m, d) at y, (m, d) or (d,)."""
        if self._first is not None:
            return self.value_and_grad(y)[1]
        self._cost.count(self._batch, full=self._full)
        return self._clipped(self._batch.grad(y))

    def value_and_grad(self, y: Array) -> tuple[Array, Array]:
        """Losses (m, 1) and gradients (m, d) at y, (m, d) or (d,)."""
        self._cost.count(self._batch, full=self._full)
        losses, gradients = self._batch.value_and_grad(y)
        if self._first is not None:
            self._first(losses)
            self._first = None
        return losses, self._clipped(gradients)

    def _clipped(self, grad: Array) -> Array:
        if self._clip is None:
            return grad
        return self._clip / arrays.maximum(arrays.norm(grad), self._clip) * grad


@dataclass(frozen=True)
class Group:
    """Clients that compute in a round.

    ids: (m,). draws: (m, K, b), a list of m arrays for whole passes, or None for full gradients. merged: number of
    clients whose minibatches each of them holds.
    """

    ids: np.ndarray
    draws: np.ndarray | list[np.ndarray] | None
    merged: int = 1

    def only(self, client: int) -> "Group":
        """The group that consists of one of the clients."""
        at = np.flatnonzero(self.ids == client)
        draws = self.draws[at[0] : at[0] + 1] if self.draws is not None else None
        return Group(self.ids[at], draws, self.merged)

    def part(self, place: slice) -> np.ndarray | None:
        """Draws of a block of clients that take the same steps."""
        own = None if self.draws is None else self.draws[place]
        return np.stack(own) if isinstance(own, list) else own


class Steps:
    """The local steps of a block of m clients in one round: iterating over it gives K minibatch gradients.

    problem: where gradients come from. clients: (m,) ids. draws: (m, K, b) of a Sampler, or None for full local
    gradients in each step; if the round's batch is given, (m, epochs, n) of whole passes, each of which is cut into
    minibatches of that size and a last one of what is left. round: the round. cost: counts gradients and samples.
    """

    def __init__(self, problem: Any, clients: np.ndarray, draws: np.ndarray | None, round: Round, cost: "Cost") -> None:
        self.problem, self.clients, self.draws, self._round, self._cost = problem, clients, draws, round, cost
        self.records: dict[str, list[np.ndarray]] = {name: [] for name in round.wanted}
        self.cuts: list[tuple[int, slice]] = []
        self.K = int(round.steps)
        if draws is not None:
            _, passes, width = draws.shape
            step = round.batch or width
            self.cuts = [(e, slice(at, at + step)) for e in range(passes) for at in range(0, width, step)]
            self.K = len(self.cuts)

    @property
    def round(self) -> int:
        """t, from 0."""
        return self._round.round

    @property
    def local(self) -> int | None:
        """Local steps of the setting, from which ``Algorithm.length`` made those of the round."""
        return self._round.local_steps

    def __len__(self) -> int:
        return self.K

    @property
    def p(self) -> Array:
        """Probabilities of the clients to be active in this round: (m, 1). Raises UserError if they are unknown."""
        if self._round.probabilities is None:
            raise UserError(
                "the probabilities of this participation are unknown: take an algorithm that does not use them"
            )
        return arrays.column(self._round.probabilities[self.clients], self._round.like)

    def __iter__(self) -> Iterator[Gradient]:
        first = self._record_loss if LOCAL_LOSS in self.records else None
        if self.draws is None:
            for _ in range(self.K):
                yield Gradient(self._batch(None), self._cost, True, self._round.clip, first)
        else:
            for cut in self.cuts:
                yield Gradient(self._batch(self.draws[:, *cut]), self._cost, False, self._round.clip, first)

    def _record_loss(self, losses: Array) -> None:
        self.record(**{LOCAL_LOSS: losses})

    def _batch(self, draws: np.ndarray | None) -> Any:
        return self.problem.full_batch(self.clients) if draws is None else self.problem.batch(self.clients, draws)

    def record(self, **values: Any) -> None:
        """Record values of the current local step: (m, 1) each, or one for all clients. Names that the setting does
        not ask for are ignored."""
        for name in values.keys() & self.records.keys():
            self.records[name].append(arrays.to_numpy(arrays.rows(values[name], len(self.clients)))[:, 0])

    @property
    def share(self) -> np.ndarray:
        """Samples of a minibatch over samples of its client, |B| / m_i: (m, 1)."""
        partition, m = self.problem.partition, len(self.clients)
        sizes = np.full(m, self.problem.samples) if partition is None else partition.sizes[self.clients]
        return (sizes if self.draws is None else np.full(m, self.draws.shape[2]))[:, None] / sizes[:, None]

    def full(self, y: Array) -> Array:
        """Full local gradients G_i(y): (m, d)."""
        batch = self.problem.full_batch(self.clients)
        self._cost.count(batch, full=True)
        return batch.grad(y)

    def mean(self, y: Array) -> Array:
        """The mean of the round's K stochastic gradients at the same y, weighted by their samples: (m, d).

        Raises UserError if the setting clips gradients, which are not computed one by one here.
        """
        if self._round.clip is not None:
            raise UserError("clip is for local steps: take an algorithm that makes some, or leave clip out")
        if self.draws is None:
            return self.full(y)
        batch = self._batch(self.draws.reshape(len(self.draws), -1))
        self._cost.count(batch, calls=self.K)
        return batch.grad(y)

    def pick(self, v: Array) -> Array:
        """v (m, d) of the drawn client times the number of active clients, and 0 for all other clients: the mean over
        the active clients is then the drawn client's v."""
        return self._only(self._round.drawn, v)

    def first(self, v: Array) -> Array:
        """As ``pick``, for the active client with the lowest id."""
        return self._only(self._round.ids.min(), v)

    def _only(self, client: int, v: Array) -> Array:
        picked, mine = v * 0, self.clients == client
        picked[mine] = self._round.active * v[mine]
        return picked

    def prox(self, v: Array, weight: float) -> Array:
        """Exact ``argmin_y f_i(y) + weight/2 |y - v|^2`` of each client, where the problem has it: (m, d)."""
        return self.problem.prox(v, weight, self.clients)


class Cost:
    """Gradients and samples that a block of m clients computed, summed over the clients: whole numbers, so the sums do
    not depend on the blocks.

    merged: number of clients whose minibatches each client of the block holds; each of them would pay for a full
    gradient.
    """

    def __init__(self, m: int, merged: int = 1) -> None:
        self.m, self.merged, self.gradients, self.samples = m, merged, 0, 0

    def count(self, batch: Any, calls: int = 1, full: bool = False) -> None:
        """Count calls of an oracle.

        batch: the oracle; its ``size`` is the number of samples of each client. full: whether its gradients are full.
        """
        samples = batch.size * self.m if isinstance(batch.size, int) else int(np.sum(batch.size))
        self.gradients += calls * self.m
        self.samples += samples * self.merged if full else samples
