"""The base class of problems, which compute gradients and metrics for the engine, and the optimum of a problem."""

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

import numpy as np

from fedatlas.errors import UserError
from fedatlas.federation import arrays
from fedatlas.federation.streams import stream
from fedatlas.io.files import atomic

if TYPE_CHECKING:
    from fedatlas.federation.partitions.partition import Partition
    from fedatlas.federation.problems.rows import Weights

Vector = Any  # a NumPy array or a torch tensor
OPTIMUM_METRICS = ("suboptimality", "distance")  # metrics that need F* or the minimiser
TESTED, VALIDATED = "test_", "validation_"  # beginnings of the names of metrics of rows that train nothing
VALIDATION = ("validation_loss", "validation_accuracy")


@dataclass(frozen=True)
class Optimum:
    """The minimum of a convex problem.

    Attributes:
        F: Minimum F*.
        x: Minimiser, (d,).
        gap: Certified bound on F(x) - F*.
    """

    F: float
    x: Any
    gap: float

    def save(self, path: str | Path) -> None:
        """Write the optimum to a .npz file, atomically. Raises UserError if it cannot be written."""
        with atomic(path) as temporary, open(temporary, "wb") as file:
            np.savez(file, F=self.F, x=self.x, gap=self.gap)

    @classmethod
    def load(cls, path: str | Path) -> "Optimum":
        """Read the optimum that ``save`` wrote. Raises UserError if the file does not exist or holds no optimum."""
        try:
            with np.load(path, allow_pickle=False) as archive:
                F, x, gap = (archive[name] for name in ("F", "x", "gap"))
            if F.shape or gap.shape or x.ndim != 1 or {F.dtype.kind, x.dtype.kind, gap.dtype.kind} != {"f"}:
                raise ValueError("it does not hold two numbers and a vector")
            return cls(float(F), x, float(gap))
        except Exception as error:  # NumPy's and zipfile's parsers raise errors of many types
            raise UserError(f"{path} is not a readable optimum ({error}): make it again") from error


class Oracles:
    """What clients of a problem, or of a kind of problem, compute besides gradients.

    Attributes:
        oracles: Names of them: ``prox``, exact proximal steps; ``hessian``, products with Hessians (`full_batch` has
            ``hessian_product(y, v)``).
    """

    oracles: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def offers(cls, name: str) -> bool:
        """Return whether there is an oracle."""
        return name in cls.oracles


class Batch(Protocol):
    """A minibatch of each of m clients, at points y: (m, d), or (d,) for all clients.

    Attributes:
        size: Samples of each minibatch, a number or (m,).
    """

    size: Any

    def grad(self, y: Vector) -> Vector:
        """Return the gradients (m, d)."""

    def value_and_grad(self, y: Vector) -> tuple[Vector, Vector]:
        """Return the losses (m, 1) and gradients (m, d)."""


class ClientLabels:
    """The classes and sizes of clients' data, which rules of participation may depend on.

    Attributes:
        labels: Class of each row of data, (n,) whole numbers from 0, or None if there are no classes.
        partition: Rows of each client, or None if every client draws from all rows.
        weights: Whether clients count equally in the objective, or by their size.
    """

    labels: Any = None
    partition: "Partition | None" = None
    weights: "Weights" = "equal"

    def label_shares(self, clients: int) -> np.ndarray:
        """Return the share of each class in each client's data: (clients, classes).

        Raises:
            UserError: The data have no classes.
        """
        if self.labels is None:
            raise UserError("participation: p is 'labels', but the problem's data have no labels: give probabilities")
        classes = int(self.labels.max()) + 1
        if self.partition is None:
            counts = np.tile(np.bincount(self.labels, minlength=classes), (clients, 1))
        else:
            counts = self.partition.histogram(self.labels, classes)
        return counts / counts.sum(axis=1, keepdims=True)


class Problem(ClientLabels, Oracles, ABC):
    """The base class of problems: the mean F of the objectives f_i of m clients, at points x (d,).

    Methods on a block of m clients have ``clients``, their ids (m,), and points y and v, (m, d) or (d,) for all.

    Attributes:
        dim: Number d of parameters.
        samples: Number of rows of data.
        variants: Number of ways to augment a row. A draw is ``row + samples * variant``; variant 0 is the row itself.
        clients: Number of clients if the problem fixes it, else None.
        optimum: Optimum of F, or None if it is unknown.
        solvable: Whether ``solve`` can compute the optimum.
        one_sample_rows: (indptr, indices, values, labels) of logistic data that all clients share, for compiled rounds.
        uniform: Whether all stochastic functions are at least 0 and have curvatures between mu_min and L_max.
        part_rows: Rows of each client in the parts ``test`` and ``validation``, where they are known.
    """

    dim: int
    samples: int
    variants: int = 1
    clients: int | None = None
    optimum: Optimum | None = None
    solvable: Any = False
    one_sample_rows: Any = None
    uniform: bool = False
    part_rows: "Mapping[str, Partition]" = MappingProxyType({})

    @property
    def shared(self) -> bool:
        """True if all clients have the same objective and data, so that one can represent all."""
        return self.partition is None and self.clients is None

    def start(self, seed: int) -> Vector:
        """Return the first point x0 (d,) of a run."""
        return self.start_from(stream(seed, "start"))

    def start_from(self, rng: Any) -> Vector:
        """Return the first point x0 (d,), a normal vector or 0.

        Args:
            rng: Generator of NumPy, of either interface.

        Raises:
            UserError: The problem starts at another point.
        """
        raise UserError("the start of this problem cannot be drawn from a given generator")

    @abstractmethod
    def batch(self, clients: np.ndarray, index: np.ndarray) -> Batch:
        """Return the minibatches of a block of clients.

        Args:
            clients: Ids of the clients, (m,).
            index: Draws of each client, (m, b).
        """

    @abstractmethod
    def full_batch(self, clients: np.ndarray) -> Batch:
        """Return all data of a block of clients (m,), as a minibatch of each."""

    @classmethod
    def offers(cls, name: str) -> bool:
        """Return whether there is an oracle; whoever defines ``prox`` need not name it."""
        return name in cls.oracles or (name == "prox" and cls.prox is not Problem.prox)

    def prox(self, v: Vector, weight: float, clients: np.ndarray) -> Vector:
        """Return the exact ``argmin_y f_i(y) + weight/2 |y - v_i|^2`` of a block of clients: (m, d).

        The row of a client is NaN where that function has no minimiser.

        Raises:
            UserError: The problem has no exact proximal step.
        """
        raise UserError(f"{type(self).__name__} has no exact proximal step: use an algorithm with gradient steps")

    def value(self, x: Vector) -> float:
        """Return F(x) of a problem whose optimum is known or can be computed; raise UserError for any other problem."""
        raise UserError(f"{type(self).__name__} has no value F(x) besides the metrics of its evaluations")

    @abstractmethod
    def evaluate(self, x: Vector) -> dict[str, float]:
        """Return metrics at x (d,): ``loss`` and those others of the kind's ``reports`` that the problem has."""

    def evaluate_all(self, points: Sequence[Vector]) -> list[dict[str, float]]:
        """Return the metrics of `evaluate` at k points (d,), with the same bits as one by one."""
        return [self.evaluate(x) for x in points]

    def evaluate_clients(self, y: Vector, clients: np.ndarray, names: Sequence[str]) -> dict[str, np.ndarray]:
        """Return metrics of clients' models, each on its client's own rows.

        Args:
            y: Models of a block of clients, (m, d), or (d,) for all.
            clients: Ids of the clients, (m,).
            names: Those of the kind's ``reports`` that are losses or accuracies. ``loss`` is f_i(y_i), in which every
                client counts alike whatever its size.

        Returns:
            Values (m,) by name, NaN for a client without such rows.

        Raises:
            UserError: The problem has no such metric of a client.
        """
        if missing := [name for name in names if name != "loss"]:
            raise UserError(f"{type(self).__name__} has no {missing[0]!r} of a client: it has no rows of data")
        losses, _ = self.full_batch(clients).value_and_grad(y)
        return {"loss": np.asarray(arrays.to_numpy(losses), float)[:, 0]}

    def constants(self) -> dict[str, float]:
        """Return the constants, such as ``mu``, for formulas of hyper-parameters and for defaults of algorithms."""
        return {}

    def constant(self, name: str) -> float | None:
        """Return a constant by its name, or None if the problem does not know it."""
        return self.constants().get(name)

    def solve(self) -> Optimum:
        """Return the optimum, and compute it if it is unknown.

        Raises:
            UserError: The optimum cannot be computed.
        """
        if self.optimum is not None:
            return self.optimum
        raise UserError(f"{type(self).__name__} has no solver for its optimum")

    def kernel(self, simulations: Sequence[Any]) -> Any:
        """Return a compiled kernel for simulations of this problem with one setting and one seed, or None."""
        return None

    def prepare_threads(self, threads: int) -> None:
        """Prepare for blocks of clients on this many threads; the engine calls it before any gradient."""

    def clock(self) -> float:
        """Return the seconds of a clock by which runs are timed.

        It is the time of this process on all its processors, so that neither other jobs nor waits count. Where another
        device computes, it is the time on the wall.
        """
        return time.process_time()

    @property
    def block_rows(self) -> int:
        """Number of clients of a block, which are computed together."""
        return arrays.block_rows(self.dim, 8)

    def validate_clients(self, clients: int) -> None:
        """Raise UserError unless the problem is for this number of clients."""
        fixed = self.partition.clients if self.partition is not None else self.clients
        if fixed is not None and fixed != clients:
            raise UserError(f"the problem is split over {fixed} clients, but the setting has {clients}")


def evaluation_rows(samples: int, count: int | Literal["all"], weights: np.ndarray | None = None) -> np.ndarray | None:
    """Return the rows of data to evaluate, sorted: the same subset in all runs, or None for all rows.

    Args:
        samples: Number of rows of data.
        count: Largest number of rows to evaluate.
        weights: Weights (samples,) of the rows in F, or None for 1. Rows of weight 0 are not evaluated.
    """
    rows = None if weights is None or weights.all() else np.flatnonzero(weights)
    available = samples if rows is None else len(rows)
    if count == "all" or count >= available:
        return rows
    positions = np.sort(stream(0, "evaluation").choice(available, count, replace=False))
    return positions if rows is None else rows[positions]
