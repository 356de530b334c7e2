"""The view that clients have of their data during one round: minibatch gradients, which are counted."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fedatlas.errors import UserError
from fedatlas.federation import arrays
from fedatlas.federation.arrays import Array
from fedatlas.federation.channels import Channel, Coded
from fedatlas.federation.engine.channels import OWN
from fedatlas.federation.engine.exchanges import ClientWork
from fedatlas.federation.engine.protocols import Batch, EngineProblem
from fedatlas.federation.engine.round import Round
from fedatlas.federation.engine.setting import LOCAL_LOSS
from fedatlas.federation.streams import stream, streams

if TYPE_CHECKING:
    from fedatlas.federation.sampling.sampler import Sampler


class Outputs:
    """What a network makes of the samples of minibatches, or of one for all models; arguments as of `Gradient`."""

    def __init__(self, batch: Any, work: ClientWork, full: bool = False) -> None:
        self._batch, self._work, self._full = batch, work, full

    @property
    def labels(self) -> Array:
        """Labels of the samples, (m, b), of a network."""
        return self._batch.labels

    def outputs(self, y: Array, layer: str = "") -> Array:
        """Return what a layer of a network makes of the samples at y, (m, b, k); it counts as a gradient."""
        self._work.count(self._batch, full=self._full)
        return self._batch.outputs(y, layer)

    def pullback(self, y: Array, v: Array, layer: str = "") -> Array:
        """Return gradients (m, d) at y of the means over samples of <outputs, v>, for v (m, b, k)."""
        self._work.count(self._batch, full=self._full)
        return self._batch.pullback(y, v, layer)


class Gradient(Outputs):
    """The stochastic gradient on the minibatches of one step: all calls within a step use the same samples.

    Args:
        batch: Minibatches of a block of m clients.
        work: Counter of gradients and samples.
        full: Whether the minibatches are all data of the clients.
        clip: Largest norm of a client's gradient, or None.
        record_loss: Function that is called with the losses (m, 1) of the first call, where a step has its iterate.
    """

    def __init__(
        self,
        batch: Batch,
        work: ClientWork,
        full: bool,
        clip: float | None = None,
        record_loss: Callable[[Array], None] | None = None,
    ) -> None:
        self._batch, self._work, self._full, self._clip, self._record_loss = batch, work, full, clip, record_loss

    def __call__(self, y: Array) -> Array:
        """Return gradients (m, d) at y, (m, d) or (d,)."""
        if self._record_loss is not None:
            return self.value_and_grad(y)[1]
        self._work.count(self._batch, full=self._full)
        return self._clipped(self._batch.grad(y))

    def value_and_grad(self, y: Array) -> tuple[Array, Array]:
        """Return losses (m, 1) and gradients (m, d) at y, (m, d) or (d,)."""
        self._work.count(self._batch, full=self._full)
        losses, gradients = self._batch.value_and_grad(y)
        if self._record_loss is not None:
            self._record_loss(losses)
            self._record_loss = None
        return losses, self._clipped(gradients)

    def _clipped(self, grad: Array) -> Array:
        if self._clip is None:
            return grad
        return self._clip / arrays.maximum(arrays.norm(grad), self._clip) * grad


@dataclass(frozen=True)
class Group:
    """Clients that compute in a round.

    Attributes:
        ids: Clients, (m,).
        draws: Draws (m, K, b), a list of m arrays for passes over the data, or None for full gradients.
        merged: Number of clients whose minibatches each of them holds.
    """

    ids: np.ndarray
    draws: np.ndarray | list[np.ndarray] | None
    merged: int = 1

    @classmethod
    def draw(cls, sampler: "Sampler", n: Round, active: np.ndarray, epochs: int | None, pooled: bool) -> "Group":
        """Return the active clients of a round, (m,), with their draws.

        Args:
            sampler: Draws of the run.
            n: Round.
            active: Ids of the clients.
            epochs: Passes over the data in a round that consists of some.
            pooled: Whether all would send a mean over the same data at the same point, so that one client with the
                samples of all can stand for them.
        """
        if epochs is not None:
            return cls(active, sampler.passes(n.round, active, epochs))
        if pooled:
            return cls(active[:1], sampler.pool(n.round, active, int(n.steps)), len(active))
        return cls(active, sampler.draw(n.round, active, int(n.steps)))

    def only(self, client: int) -> "Group":
        """Return the group that consists of one of the clients."""
        position = np.flatnonzero(self.ids == client)
        draws = self.draws[position[0] : position[0] + 1] if self.draws is not None else None
        return Group(self.ids[position], draws, self.merged)

    def part(self, positions: slice) -> np.ndarray | None:
        """Return the draws of a block of clients that take the same steps."""
        draws = None if self.draws is None else self.draws[positions]
        return np.stack(draws) if isinstance(draws, list) else draws


class Steps:
    """The local steps of a block of m clients in one round. Iterating yields K minibatch gradients.

    Args:
        problem: Problem, which computes the gradients.
        clients: Ids of the clients, (m,).
        draws: Draws (m, K, b) of a Sampler, or None for full local gradients in each step. If the round has a
            ``batch``, (m, epochs, n) of passes, each of which is cut into minibatches of that size and a last one of
            the remaining samples.
        round: Round that the steps belong to.
        work: Counter of gradients and samples.
    """

    def __init__(
        self, problem: EngineProblem, clients: np.ndarray, draws: np.ndarray | None, round: Round, work: ClientWork
    ) -> None:
        self.problem, self.clients, self.draws, self._round, self._work = problem, clients, draws, round, work
        self.records: dict[str, list[np.ndarray]] = {name: [] for name in round.recorded}
        self.noted: set[str] = set()  # names of all values that were recorded, or would be if the setting asked
        self.cuts: list[tuple[int, slice]] = []
        self._step = self._codings = 0
        self._means: tuple[np.ndarray, Batch] | None = None  # clients, and their minibatches of the whole round
        self.K = int(round.steps)
        if draws is not None:
            _, passes, width = draws.shape
            size = round.batch or width
            self.cuts = [(e, slice(start, start + size)) for e in range(passes) for start in range(0, width, size)]
            self.K = len(self.cuts)

    @property
    def round(self) -> int:
        """Number t of the round, from 0; in asynchronous runs, of the client's computations before this one."""
        return self._round.round

    @property
    def local(self) -> int:
        """Local steps of the setting, from which ``Algorithm.length`` made those of the round.

        Raises UserError under local epochs, which have none.
        """
        if self._round.local_steps is None:
            raise UserError("steps.local is the number of local steps: give local_steps, not local_epochs")
        return self._round.local_steps

    def __len__(self) -> int:
        return self.K

    @property
    def p(self) -> Array:
        """Probabilities of the clients to be active in this round, (m, 1). Raises UserError if they are unknown."""
        if self._round.probabilities is None:
            raise UserError(
                "the probabilities of this participation are unknown: take an algorithm that does not use them"
            )
        return arrays.column(self._round.probabilities[self.clients], self._round.vector)

    def __iter__(self) -> Iterator[Gradient]:
        record_loss = self._record_loss if LOCAL_LOSS in self.records else None
        if self.draws is None:
            for _ in range(self.K):
                yield Gradient(self._batch(None), self._work, True, self._round.clip, record_loss)
        else:
            for step, cut in enumerate(self.cuts):
                self._step = step
                yield Gradient(self._batch(self.draws[:, *cut]), self._work, False, self._round.clip, record_loss)

    def _record_loss(self, losses: Array) -> None:
        self._record({LOCAL_LOSS: losses})

    def _batch(self, draws: np.ndarray | None) -> Batch:
        return self.problem.full_batch(self.clients) if draws is None else self.problem.batch(self.clients, draws)

    def record(self, **values: Any) -> None:
        """Record values of the current local step.

        Args:
            values: Values (m, 1) by name, or one number for all clients. Names that the setting does not ask for are
                ignored.

        Raises:
            UserError: If a value has another shape.
        """
        self.noted.update(values)
        self._record(values)

    def _record(self, values: dict[str, Any]) -> None:
        for name in values.keys() & self.records.keys():
            column = arrays.rows(np.atleast_1d(arrays.to_numpy(values[name])), len(self.clients))
            if column.shape != (len(self.clients), 1):
                raise UserError(
                    f"the recorded {name} has the shape {np.shape(values[name])}: record a column (m, 1) with a value "
                    "for each client, or one number"
                )
            self.records[name].append(column[:, 0])

    @property
    def share(self) -> Array:
        """Samples of the current minibatch over samples of its client, |B| / m_i: (m, 1).

        The last minibatch of a pass has the samples that are left. Before the first step it is the share of the first.
        """
        shares = np.ones(len(self.clients))
        if self.draws is not None:
            shares = self.draws[:, *self.cuts[self._step]].shape[1] / self._sizes() * shares
        return arrays.column(shares, self._round.vector)

    @property
    def sizes(self) -> Array:
        """Samples n_i of the clients, (m, 1)."""
        return arrays.column(self._sizes(), self._round.vector)

    def _sizes(self) -> np.ndarray:
        partition = self.problem.partition
        return np.full(len(self.clients), self.problem.samples) if partition is None else partition.sizes[self.clients]

    def code(self, channel: Channel, v: Array) -> Coded:
        """Return rows v (m, d) as the receiver has them after a channel, with the bits that are sent for them.

        Each call in a round has its own draws, which depend on the seed, the round and the client.
        """
        index, self._codings = self._codings, self._codings + 1
        seed, t, ids = self._round.seed, self._round.round, self.clients
        rows = arrays.rows(v, len(ids))
        shapes = self.problem.shapes if rows.shape[-1] == self.problem.dim else ()
        return channel.apply(rows, lambda row: stream(seed, "channel", t, int(ids[row]), OWN, index), shapes)

    def shared_rng(self) -> np.random.Generator:
        """Return a generator that is the same for all clients of the round, in its first state."""
        return stream(self._round.seed, "algorithm", self._round.round, 2)

    def client_rngs(self) -> list[np.random.Generator]:
        """Return a generator for each client, in its first state; seed, round and client determine its draws."""
        return streams(self._round.seed, "algorithm", self._round.round, 3, last=self.clients)

    @property
    def all_clients(self) -> int:
        """Number m of all clients, active or not."""
        return self._round.clients

    def full(self, y: Array, where: Array | None = None) -> Array:
        """Return full local gradients G_i(y); where they are not exact, means of the round's minibatches: (m, d).

        Args:
            y: Points, (m, d) or (d,).
            where: Mask (m, 1) of the clients that compute one, by default all. The rows of the others are 0.
        """
        m, rows = len(self.clients), None
        if where is not None:
            rows = np.flatnonzero(arrays.to_numpy(where))
            if len(rows) == m:
                rows = None
        points = y if rows is None else arrays.rows(y, m)[rows]
        if not self._round.exact_gradients and self.draws is not None:
            gradient = self._mean(points, rows)
        else:
            batch = self.problem.full_batch(self.clients if rows is None else self.clients[rows])
            self._work.count(batch, full=True, rows=rows)
            gradient = batch.grad(points)
        if rows is None:
            return gradient
        index = np.zeros(m, int)
        index[rows] = np.arange(len(rows))
        return arrays.where(where, gradient[index], 0.0)

    def mean(self, y: Array) -> Array:
        """Return the mean of the round's K stochastic gradients at the same y, weighted by their samples: (m, d).

        Raises:
            UserError: If the setting clips gradients, which are not computed one by one here.
        """
        if self._round.clip is not None:
            raise UserError("clip is for local steps: take an algorithm that makes some, or leave clip out")
        return self.full(y) if self.draws is None else self._mean(y)

    def _mean(self, y: Array, rows: np.ndarray | None = None) -> Array:
        """Return the means of the round's stochastic gradients of the clients in some rows of the block, or all."""
        assert self.draws is not None
        clients, draws = (self.clients, self.draws) if rows is None else (self.clients[rows], self.draws[rows])
        if self._means is None or not np.array_equal(self._means[0], clients):  # local solvers ask for the same often
            self._means = clients, self.problem.batch(clients, draws.reshape(len(draws), -1))
        batch = self._means[1]
        self._work.count(batch, calls=self.K, rows=rows)
        return batch.grad(y)

    def pick(self, v: Array, first: bool = False) -> Array:
        """Return rows (m, d) whose mean over active clients is the row of v of one of them.

        Args:
            v: Rows (m, d).
            first: Whether it is that of the lowest id, and not one drawn at random.
        """
        return self._only(self._round.order.min() if first else self._round.random_client, v)

    def _only(self, client: int, v: Array) -> Array:
        # The client's row times the number of active clients; the rows of all others are 0.
        rows, selected = v * 0, self.clients == client
        rows[selected] = self._round.active * v[selected]
        return rows

    def hessian_product(self, y: Array, v: Array) -> Array:
        """Return the products of the Hessians of f_i at y with v, (m, d). Each counts as a full gradient.

        Only a problem that declares Hessians has them.
        """
        batch: Any = self.problem.full_batch(self.clients)
        self._work.count(batch, full=True)
        return batch.hessian_product(y, v)

    def prox(self, v: Array, weight: float) -> Array:
        """Return the exact ``argmin_y f_i(y) + weight/2 |y - v|^2`` of each client, (m, d).

        Raises UserError if the problem has no exact proximal step.
        """
        return self.problem.prox(v, weight, self.clients)
