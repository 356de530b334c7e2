"""Types of the arguments of an algorithm's hooks. An algorithm sees nothing else of the engine and of problems."""

from collections.abc import Iterator
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]  # or a torch tensor: the functions of `fedatlas.federation.arrays` take both


class Gradient(Protocol):
    """The stochastic gradient of a block of m clients in one local step. All calls use the same minibatches.

    Its argument y is (m, d), or (d,) if all clients are at one point.
    """

    def __call__(self, y: Array) -> Array:
        """Return the gradients at y: (m, d)."""

    def value_and_grad(self, y: Array) -> tuple[Array, Array]:
        """Return the losses (m, 1) and gradients (m, d) at y."""


class Steps(Protocol):
    """The local steps of a block of m clients in one round: iterating yields one `Gradient` for each local step.

    Points y and v are (m, d), or (d,) if all clients are at one point.
    """

    def __iter__(self) -> Iterator[Gradient]: ...

    def __len__(self) -> int:
        """Number K of local steps of this round."""

    @property
    def round(self) -> int:
        """Number t of the round, from 0."""

    @property
    def local(self) -> int | None:
        """Local steps of the setting, the argument K of `Algorithm.length`; None under local epochs."""

    @property
    def p(self) -> Array:
        """Probabilities of the clients to be active this round: (m, 1). Raises UserError if they are unknown."""

    @property
    def share(self) -> Array:
        """Samples of a minibatch divided by the samples of its client: (m, 1)."""

    def full(self, y: Array) -> Array:
        """Return the full local gradients G_i(y): (m, d)."""

    def mean(self, y: Array) -> Array:
        """Return the means of the round's K stochastic gradients, all of them at y: (m, d)."""

    def pick(self, v: Array) -> Array:
        """Return rows (m, d) whose mean over active clients is the row of v of one client drawn at random."""

    def first(self, v: Array) -> Array:
        """Return rows (m, d) whose mean over active clients is the row of v of the active client of lowest number."""

    def prox(self, v: Array, weight: float) -> Array:
        """Return the exact minimisers over y of f_i(y) + weight/2 |y - v|^2: (m, d)."""

    def record(self, **values: Any) -> None:
        """Record values of the current local step, (m, 1) each or one number for all clients."""


class Round(Protocol):
    """The numbers of a round that the server knows."""

    @property
    def active(self) -> int:
        """Number |S| of active clients."""

    @property
    def clients(self) -> int:
        """Number of all clients."""

    @property
    def round(self) -> int:
        """Number t of the round, from 0."""

    @property
    def steps(self) -> float:
        """Local steps, averaged over active clients."""

    @property
    def rng(self) -> np.random.Generator:
        """Generator for what the server draws in this round."""


class Setting(Protocol):
    """The part of a setting that algorithms read; see `fedatlas.federation.engine.setting`."""

    @property
    def clients(self) -> int: ...

    @property
    def local_steps(self) -> int | None: ...

    @property
    def local_epochs(self) -> int | None: ...

    def last_factor(self) -> float: ...

    @property
    def full_participation(self) -> bool: ...

    @property
    def constant_lr(self) -> bool: ...


class Proximal(Protocol):
    """A problem, or a kind of problem, that says whether its clients have an exact proximal step."""

    def has_prox(self) -> bool:
        """Return whether clients of this problem have an exact proximal step."""


class Problem(Proximal, Protocol):
    """The part of a problem that algorithms read; see `fedatlas.federation.problems.base`."""

    def constant(self, name: str) -> float | None:
        """Return a constant of the problem, such as ``mu``; None if it is unknown."""
