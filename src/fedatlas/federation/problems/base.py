"""What a kind of problem declares, and what a problem gives the engine."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

import numpy as np

from fedatlas.errors import UserError
from fedatlas.federation import arrays
from fedatlas.federation.streams import stream
from fedatlas.io import npz
from fedatlas.io.files import atomic
from fedatlas.io.machine import free_host
from fedatlas.registry.kinds import Kind

if TYPE_CHECKING:
    from fedatlas.data.dataset import Contents, Dataset
    from fedatlas.federation.partitions.partition import Partition

Vector = Any  # a NumPy array or a torch tensor
CHEAP = 500_000  # bytes of an instance that is built in milliseconds
OF_THE_OPTIMUM = ("suboptimality", "distance")  # metrics that need F* or the minimiser
TESTED, VALIDATED = "test_", "validation_"  # beginnings of the names of metrics of rows that train nothing
VALIDATION = ("validation_loss", "validation_accuracy")


@dataclass(frozen=True, kw_only=True)
class ProblemKind(Kind):
    """A kind of problem. Its fields are the options of a specification.

    on_data: whether it is made from a data set. constants: names of the constants that formulas of hyper-parameters may
    use. per_client: whether each client has an objective of its own whatever the partition, so that their number is
    part of the problem. exact: whether constants and optimum are known in closed form. proximal: whether clients'
    objectives have an exact proximal step. oracle: full name of the module that computes, where that is loaded by name;
    by default the one that declares the kind. normal_start: whether x0 is a normal vector that any generator can draw,
    or 0. reports: names of the metrics that evaluations may have.
    """

    on_data: ClassVar[bool]
    constants: ClassVar[tuple[str, ...]]
    per_client: ClassVar[bool] = False
    exact: ClassVar[bool] = False
    proximal: ClassVar[bool] = False
    oracle: ClassVar[str | None] = None
    normal_start: ClassVar[bool] = False
    reports: ClassVar[tuple[str, ...]]

    @classmethod
    def has_prox(cls) -> bool:
        """The same as ``Problem.has_prox``, before a problem is made."""
        return cls.proximal

    def available_constants(self) -> tuple[str, ...]:
        """Those of ``constants`` that the problem has with these options."""
        return self.constants

    @property
    def solvable(self) -> bool:
        """Whether the optimum is known, or can be computed."""
        return self.exact

    def metric_names(self, optimum: bool, parts: Collection[str] = ()) -> list[str]:
        """Those of ``reports`` that evaluations have with these options.

        optimum: whether the optimum is computed first. parts: TESTED and VALIDATED, as far as there are such data.
        """
        known = (self.exact and self.solvable) or optimum
        names = [name for name in self.reports if known or name not in OF_THE_OPTIMUM]
        return [name for name in names if not any(name.startswith(part) for part in {TESTED, VALIDATED} - {*parts})]

    def bytes(self, clients: int) -> int:
        """Bytes, roughly, that making the problem takes besides data that lie in files. clients: their number."""
        return 64 * clients

    def provenance(self) -> dict[str, Any]:
        """What a run file says of how the problem is computed on this machine, besides the version of NumPy."""
        return {}


@dataclass(frozen=True, kw_only=True)
class SyntheticKind(ProblemKind):
    """A kind of problem that is made from its options alone."""

    on_data = False

    @abstractmethod
    def build(self, clients: int) -> "Problem":
        """The problem. clients: their number. Raises UserError if there is none for so many clients."""

    def cheap(self, clients: int) -> bool:
        """Whether the problem is built in milliseconds."""
        return self.bytes(clients) <= CHEAP


@dataclass(frozen=True, kw_only=True)
class DataKind(ProblemKind):
    """A kind of problem that is made from a data set."""

    on_data = True

    def validate_data(self, train: "Contents") -> None:
        """Raise UserError if the problem cannot be made from a data set. train: what the data set holds."""

    @abstractmethod
    def build(self, train: "Dataset", test: "Dataset | None", partition: "Partition | None") -> "Problem":
        """The problem on prepared data.

        train: training data, and test data if it has some. test: a Dataset to test on instead, or None. partition:
        rows of each client, or None where every client draws from all rows. Raises UserError on data that do not fit.
        """


@dataclass(frozen=True)
class Optimum:
    """Minimum of a convex problem. F: F*; x: minimiser (d,); gap: a bound on F(x) - F* that was checked."""

    F: float
    x: Vector
    gap: float

    def save(self, path: str | Path) -> None:
        """Keep the optimum in a .npz file, written whole. Raises UserError if it cannot be written."""
        with atomic(path) as temporary, open(temporary, "wb") as file:
            np.savez(file, F=self.F, x=self.x, gap=self.gap)

    @classmethod
    def load(cls, path: str | Path) -> "Optimum":
        """The optimum that ``save`` kept. Raises UserError if it is not there, or is no optimum."""
        try:
            npz.validate(path)
            with np.load(path, allow_pickle=False) as saved:
                F, x, gap = saved["F"], saved["x"], saved["gap"]
            if F.shape or gap.shape or x.ndim != 1 or {F.dtype.kind, x.dtype.kind, gap.dtype.kind} != {"f"}:
                raise ValueError("it does not hold two numbers and a vector")
            return cls(float(F), x, float(gap))
        except Exception as error:  # NumPy's and zipfile's parsers raise whatever they stumble over
            raise UserError(f"{path} is not a readable optimum ({error}): make it again") from error


class Batch(Protocol):
    """A minibatch of each of m clients. size: samples of each, a number or (m,). y: (m, d), or (d,) for all."""

    size: Any

    def grad(self, y: Vector) -> Vector:
        """Gradients (m, d)."""

    def value_and_grad(self, y: Vector) -> tuple[Vector, Vector]:
        """Losses (m, 1) and gradients (m, d)."""


class ClientLabels:
    """The classes of clients' data, which rules of participation may depend on.

    labels: (n,) class of each row of data, from 0, or None where there are no classes. partition: which rows are whose,
    or None if every client draws from all.
    """

    labels: Any = None
    partition: "Partition | None" = None

    def label_shares(self, clients: int) -> np.ndarray:
        """Share of each class in each client's data: (clients, classes). Raises UserError if there are no classes."""
        if self.labels is None:
            raise UserError("participation: p is 'labels', but the problem's data have no labels: give probabilities")
        classes = int(self.labels.max()) + 1
        if self.partition is None:
            counts = np.tile(np.bincount(self.labels, minlength=classes), (clients, 1))
        else:
            counts = self.partition.histogram(self.labels, classes)
        return counts / counts.sum(axis=1, keepdims=True)


class Problem(ClientLabels, ABC):
    """Base of all problems.

    dim: parameters d. samples: rows of data. clients: their number if the problem fixes it, else None. optimum: an
    Optimum, or None if unknown. variants: ways in which a row may be seen (augmentation); a draw is
    ``row + samples * variant``, and variant 0 is the row as it is. solvable: whether ``solve`` can find the optimum.
    draw_bytes: what a step holds of each draw, such as a row of data. one_sample_rows: (indptr, indices,
    values, labels) of logistic data that all clients share, for compiled rounds. uniform: whether all stochastic
    functions are at least 0, with curvatures between the constants mu_min and L_max.
    """

    dim: int
    samples: int
    variants: int = 1
    clients: int | None = None
    optimum: Optimum | None = None
    solvable: Any = False
    one_sample_rows: Any = None
    draw_bytes: int = 0
    uniform: bool = False

    @property
    def shared(self) -> bool:
        """Whether all clients have the same objective and data, so that one can stand for all."""
        return self.partition is None and self.clients is None

    def start(self, seed: int) -> Vector:
        """First point x0 (d,)."""
        return self.start_from(stream(seed, "start"))

    def start_from(self, rng: Any) -> Vector:
        """First point x0 (d,), a normal vector or 0. rng: a generator of NumPy, of either interface.

        Raises UserError if the problem starts elsewhere.
        """
        raise UserError("the start of this problem cannot be drawn from a given generator")

    @abstractmethod
    def batch(self, clients: np.ndarray, index: np.ndarray) -> Batch:
        """Minibatches of a block of clients. clients: (m,) ids. index: (m, b) draws."""

    @abstractmethod
    def full_batch(self, clients: np.ndarray) -> Batch:
        """All data of each of a block of clients. clients: (m,) ids."""

    @classmethod
    def has_prox(cls) -> bool:
        """Whether this kind of problem has an exact proximal step."""
        return cls.prox is not Problem.prox

    def prox(self, v: Vector, weight: float, clients: np.ndarray) -> Vector:
        """Exact ``argmin_y f_i(y) + weight/2 |y - v_i|^2``: (m, d).

        v: (m, d) or (d,). clients: (m,) ids. Raises UserError where there is no such step.
        """
        raise UserError(f"{type(self).__name__} has no exact proximal step: use an algorithm with gradient steps")

    def value(self, x: Vector) -> float:
        """F(x) of a problem whose optimum is known or can be found. x: (d,). Raises UserError of any other problem."""
        raise UserError(f"{type(self).__name__} has no value F(x) besides the metrics of its evaluations")

    @abstractmethod
    def evaluate(self, x: Vector) -> dict[str, float]:
        """Metrics of the global objective at x (d,): ``loss`` and whatever else the problem knows."""

    def constants(self) -> dict[str, float]:
        """Constants that formulas of hyper-parameters may use and algorithms may take as defaults, such as ``mu``."""
        return {}

    def constant(self, name: str) -> float | None:
        """One of the constants, or None."""
        return self.constants().get(name)

    def solve(self) -> Optimum:
        """The Optimum. Raises UserError where it cannot be computed."""
        if self.optimum is not None:
            return self.optimum
        raise UserError(f"{type(self).__name__} has no solver for its optimum")

    def kernel(self, simulations: Sequence[Any]) -> Any:
        """What advances simulations of this problem, one setting and one seed on compiled rounds; or None."""
        return None

    def prepare_threads(self, threads: int) -> None:
        """Prepare for this many blocks that are computed at once. It is called before any gradient."""

    def memory(self, batch: int, clients: int) -> dict[str, int]:
        """Bytes, roughly, of ``data`` and of ``activations``, what steps hold of minibatches.

        batch: samples of a minibatch. clients: those that compute at once.
        """
        data = sum(getattr(value, "nbytes", 0) for value in vars(self).values())
        return {"data": data, "activations": clients * batch * self.draw_bytes}

    def free_memory(self) -> int:
        """Bytes that are free where vectors live."""
        return free_host()

    @property
    def block_rows(self) -> int:
        """Clients that are computed together."""
        return arrays.block_rows(self.dim, 8)

    def validate_clients(self, clients: int) -> None:
        """Raise UserError if the problem is for another number of clients."""
        fixed = self.partition.clients if self.partition is not None else self.clients
        if fixed is not None and fixed != clients:
            raise UserError(f"the problem is split over {fixed} clients, but the setting has {clients}")


def evaluation_rows(samples: int, count: int | Literal["all"]) -> np.ndarray | None:
    """Rows of data that are evaluated, sorted: a subset that is the same in all runs, or None for all of them.

    samples: rows of data. count: how many of them are evaluated at most.
    """
    if count == "all" or count >= samples:
        return None
    return np.sort(stream(0, "evaluation").choice(samples, count, replace=False))
