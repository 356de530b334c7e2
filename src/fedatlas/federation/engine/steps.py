"""What the hooks of an algorithm are given in a round: the `Steps` of clients, with their gradients, and the `Round`.

An algorithm sees nothing else of the engine and of problems.
"""

import functools
import inspect
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from fedatlas.errors import UserError
from fedatlas.federation import arrays
from fedatlas.federation.arrays import Array
from fedatlas.federation.engine.exchanges import ClientWork
from fedatlas.federation.engine.history import LOCAL_LOSS
from fedatlas.federation.streams import random_client, stream, streams

if TYPE_CHECKING:
    from fedatlas.federation.channels import Channel, Coded
    from fedatlas.federation.engine.setting import Setting
    from fedatlas.federation.problems.base import Batch, Problem

T = TypeVar("T")
OWN = 2  # first index of the random streams of what algorithms code, after those of the engine's messages up and down


class Gradient:
    """The stochastic gradient of a block of m clients in one local step. All calls use the same minibatches.

    Its argument y is (m, d), or (d,) if all clients are at one point.

    Args:
        batch: Minibatches of the clients.
        work: Counter of gradients and samples.
        full: Whether the minibatches are all data of the clients.
        clip: Largest norm of a client's gradient, or None.
        record_loss: Function that is called with the losses (m, 1) of the first call, where a step has its iterate.
    """

    def __init__(
        self,
        batch: "Batch",
        work: ClientWork,
        full: bool,
        clip: float | None = None,
        record_loss: Callable[[Array], None] | None = None,
    ) -> None:
        self._batch, self._work, self._full, self._clip, self._record_loss = batch, work, full, clip, record_loss

    def __call__(self, y: Array) -> Array:
        """Return the gradients at y: (m, d)."""
        if self._record_loss is not None:
            return self.value_and_grad(y)[1]
        self._work.count(self._batch, full=self._full)
        return self._clipped(self._batch.grad(y))

    def value_and_grad(self, y: Array) -> tuple[Array, Array]:
        """Return the losses (m, 1) and gradients (m, d) at y."""
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


class Steps:
    """The local steps of a block of m clients in one round: iterating yields a `Gradient` for each of K local steps.

    Points y and v are (m, d), or (d,) if all clients are at one point.

    Args:
        problem: Problem, which computes the gradients.
        clients: Ids of the clients, (m,).
        draws: Draws (m, K, b) of a Sampler, or None for full local gradients in each step. For local epochs (m, epochs,
            n), passes over the data, each of which is cut into minibatches and a last one of the remaining samples.
        round: Round that the steps belong to.
        work: Counter of gradients and samples.

    Attributes:
        clients: Ids of the clients, (m,).
        records: Recorded values (m,) of each local step, by name, where the setting asks for them.
    """

    def __init__(
        self, problem: "Problem", clients: np.ndarray, draws: np.ndarray | None, round: "Round", work: ClientWork
    ) -> None:
        self._problem, self.clients, self._draws, self._round, self._work = problem, clients, draws, round, work
        self.records: dict[str, list[np.ndarray]] = {name: [] for name in round.recorded}
        self._cuts: list[tuple[int, slice]] = []
        self._step = self._codings = 0
        self._means: tuple[np.ndarray, Batch] | None = None  # clients, and their minibatches of the whole round
        self._length = int(round.steps)
        if draws is not None:
            _, passes, width = draws.shape
            size = width if round.setting.local_epochs is None else round.setting.batch or width
            self._cuts = [(e, slice(start, start + size)) for e in range(passes) for start in range(0, width, size)]
            self._length = len(self._cuts)

    def __len__(self) -> int:
        """Number K of local steps of this round."""
        return self._length

    def __iter__(self) -> Iterator[Gradient]:
        clip, record_loss = self._round.setting.clip, self._record_loss if LOCAL_LOSS in self.records else None
        if self._draws is None:
            for _ in range(self._length):
                yield Gradient(self._problem.full_batch(self.clients), self._work, True, clip, record_loss)
        else:
            for step, cut in enumerate(self._cuts):
                self._step = step
                batch = self._problem.batch(self.clients, self._draws[:, *cut])
                yield Gradient(batch, self._work, False, clip, record_loss)

    @property
    def round(self) -> int:
        """Number t of the round, from 0; in asynchronous runs, of the client's computations before this one."""
        return self._round.round

    @property
    def local(self) -> int:
        """Local steps of the setting, the argument K of `Algorithm.length`. Raises UserError under local epochs."""
        if self._round.setting.local_steps is None:
            raise UserError("steps.local is the number of local steps: give local_steps, not local_epochs")
        return self._round.setting.local_steps

    @property
    def p(self) -> Array:
        """Probabilities of the clients to be active this round: (m, 1). Raises UserError if they are unknown."""
        if self._round.probabilities is None:
            raise UserError(
                "the probabilities of this participation are unknown: take an algorithm that does not use them"
            )
        return arrays.column(self._round.probabilities[self.clients], self._round.vector)

    @property
    def share(self) -> Array:
        """Samples of the current step's minibatch divided by the samples of its client: (m, 1).

        The last minibatch of a pass has the samples that are left. Before the first step it is the share of the first.
        """
        shares = np.ones(len(self.clients))
        if self._draws is not None:
            shares = self._draws[:, *self._cuts[self._step]].shape[1] / self._sizes() * shares
        return arrays.column(shares, self._round.vector)

    @property
    def sizes(self) -> Array:
        """Samples n_i of the clients: (m, 1)."""
        return arrays.column(self._sizes(), self._round.vector)

    def _sizes(self) -> np.ndarray:
        partition, m = self._problem.partition, len(self.clients)
        return np.full(m, self._problem.samples) if partition is None else partition.sizes[self.clients]

    @property
    def all_clients(self) -> int:
        """Number of all clients, active or not."""
        return self._round.clients

    def shared_rng(self) -> np.random.Generator:
        """Return a generator that is the same for all clients of the round, in its first state."""
        return stream(self._round.seed, "algorithm", self._round.round, 2)

    def client_rngs(self) -> list[np.random.Generator]:
        """Return a generator for each client, in its first state; seed, round and client determine its draws."""
        return streams(self._round.seed, "algorithm", self._round.round, 3, last=self.clients)

    def code(self, channel: "Channel", v: Array) -> "Coded":
        """Return rows v (m, d) as a receiver has them after a channel, with the bits that are sent for them.

        Each call in a round has its own draws, which depend on the seed, the round and the client.
        """
        index, self._codings = self._codings, self._codings + 1
        seed, t, ids = self._round.seed, self._round.round, self.clients
        rows = arrays.rows(v, len(ids))
        return channel.apply(rows, lambda row: stream(seed, "channel", t, int(ids[row]), OWN, index))

    def full(self, y: Array, where: Array | None = None) -> Array:
        """Return the full local gradients G_i(y): (m, d).

        With ``full_gradients: minibatch`` of the setting they are the means of the round's K stochastic gradients.

        Args:
            y: Points.
            where: Mask (m, 1) of the clients that compute one, by default all. The rows of the others are 0.
        """
        m, rows = len(self.clients), None
        if where is not None:
            rows = np.flatnonzero(arrays.to_numpy(where))
            if len(rows) == m:
                rows = None
        points = y if rows is None else arrays.rows(y, m)[rows]
        if not self._round.setting.exact_gradients and self._draws is not None:
            gradient = self._mean(points, rows)
        else:
            batch = self._problem.full_batch(self.clients if rows is None else self.clients[rows])
            self._work.count(batch, full=True, rows=rows)
            gradient = batch.grad(points)
        if rows is None:
            return gradient
        index = np.zeros(m, int)
        index[rows] = np.arange(len(rows))
        return arrays.where(where, gradient[index], 0.0)

    def mean(self, y: Array) -> Array:
        """Return the means of the round's K stochastic gradients, all of them at y, weighted by their samples: (m, d).

        Raises:
            UserError: The setting clips gradients, which are not computed one by one here.
        """
        if self._round.setting.clip is not None:
            raise UserError("clip is for local steps: take an algorithm that makes some, or leave clip out")
        return self.full(y) if self._draws is None else self._mean(y)

    def _mean(self, y: Array, rows: np.ndarray | None = None) -> Array:
        """Return the means of the round's stochastic gradients of the clients in some rows of the block, or all."""
        assert self._draws is not None
        clients, draws = (self.clients, self._draws) if rows is None else (self.clients[rows], self._draws[rows])
        if self._means is None or not np.array_equal(self._means[0], clients):  # local solvers ask for the same often
            self._means = clients, self._problem.batch(clients, draws.reshape(len(draws), -1))
        batch = self._means[1]
        self._work.count(batch, calls=self._length, rows=rows)
        return batch.grad(y)

    def pick(self, v: Array, first: bool = False) -> Array:
        """Return rows (m, d) whose mean over active clients is the row of v of one of them.

        Args:
            v: Rows (m, d).
            first: Whether it is that of the lowest id, and not one drawn at random.
        """
        client = self._round.order.min() if first else self._round.random_client
        rows, selected = v * 0, self.clients == client  # the rows of all others are 0
        rows[selected] = self._round.active * v[selected]
        return rows

    def prox(self, v: Array, weight: float) -> Array:
        """Return the exact minimisers over y of f_i(y) + weight/2 |y - v|^2: (m, d)."""
        self._require_exact("prox")
        return self._problem.prox(v, weight, self.clients)

    def hessian_product(self, y: Array, v: Array) -> Array:
        """Return the products of the Hessians of the clients' objectives at y with v: (m, d).

        Each counts as a full gradient. Only a problem that offers Hessians has them.
        """
        self._require_exact("hessian")
        batch: Any = self._problem.full_batch(self.clients)
        self._work.count(batch, full=True)
        return batch.hessian_product(y, v)

    def _require_exact(self, name: str) -> None:
        if not self._round.setting.exact_gradients:
            raise UserError(f"steps has no {name} where full_gradients is minibatch: write requires = ({name!r},)")

    def record(self, **values: Any) -> None:
        """Record values of the current local step.

        Args:
            values: Values (m, 1) by name, or one number for all clients. Names that the setting does not ask for are
                ignored.

        Raises:
            UserError: A value has another shape.
        """
        for name in values.keys() & self.records.keys():
            column = arrays.rows(np.atleast_1d(arrays.to_numpy(values[name])), len(self.clients))
            if column.shape != (len(self.clients), 1):
                raise UserError(
                    f"the recorded {name} has the shape {np.shape(values[name])}: record a column (m, 1) with a value "
                    "for each client, or one number"
                )
            self.records[name].append(column[:, 0])

    def _record_loss(self, losses: Array) -> None:
        self.record(**{LOCAL_LOSS: losses})


@dataclass(frozen=True, eq=False, kw_only=True)
class Round:
    """The numbers of a round that the server knows, and those from which the engine makes its `Steps`.

    Attributes:
        round: Number t of the round, from 0.
        steps: Local steps; where clients take different numbers of them, the mean over active clients.
        discount: Mean over messages of the weights that the driver gave late ones; 1 in synchronous rounds.
        order: Ids of the active clients, (active,), in the order in which they compute.
        setting: Setting of the run.
        seed: Seed of the run.
        probabilities: Probability of each client to be active, (clients,), or None where they are unknown.
        recorded: Names of the values that ``Steps.record`` keeps.
        vector: A vector of the model, for library, device and type of numbers.
    """

    round: int
    steps: float
    discount: float = 1.0
    order: np.ndarray
    setting: "Setting"
    seed: int = 0
    probabilities: np.ndarray | None = None
    recorded: tuple[str, ...] = ()
    vector: Any = None

    @property
    def active(self) -> int:
        """Number |S| of active clients."""
        return len(self.order)

    @functools.cached_property
    def ids(self) -> np.ndarray:
        """Ids of the active clients, (active,), in the order of the rows that the server gets: ascending."""
        return np.sort(self.order)

    @property
    def clients(self) -> int:
        """Number of all clients."""
        return self.setting.clients

    @functools.cached_property
    def rng(self) -> np.random.Generator:
        """Generator for what the server draws in this round."""
        return stream(self.seed, "algorithm", self.round, 0)

    @functools.cached_property
    def random_client(self) -> int:
        """Id of one active client, drawn uniformly."""
        return int(self.order[random_client(self.seed, self.round, self.active)])


def call(hook: Callable[..., T], *arguments: Any) -> T:
    """Return what a hook returns that may take its last arguments or leave them out."""
    function = getattr(hook, "__func__", hook)  # a bound method is another object each time, and its first one is bound
    return hook(*arguments[: _parameter_count(function) - (function is not hook)])


@functools.lru_cache(maxsize=1000)
def _parameter_count(function: Callable[..., Any]) -> int:
    """Return how many arguments a function takes; very many where it takes any number."""
    parameters = inspect.signature(function).parameters.values()
    return sys.maxsize if any(item.kind is item.VAR_POSITIONAL for item in parameters) else len(parameters)
