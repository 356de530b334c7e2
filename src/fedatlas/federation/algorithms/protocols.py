"""What the hooks of an algorithm are given, as types. An algorithm sees nothing else of simulations and problems."""

from collections.abc import Iterator
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]  # or a torch tensor: the functions of `fedatlas.federation.arrays` take both


class Gradient(Protocol):
    """The stochastic gradient of a block of m clients in one local step. All calls use the same minibatches."""

    def __call__(self, y: Array) -> Array:
        """Gradients at y: (m, d). y: (m, d), or (d,) where all clients are at one point."""

    def value_and_grad(self, y: Array) -> tuple[Array, Array]:
        """Losses (m, 1) and gradients (m, d) at y."""


class Steps(Protocol):
    """What a block of m clients sees of its data in one round. Iterating yields one `Gradient` for each local step."""

    def __iter__(self) -> Iterator[Gradient]: ...

    def __len__(self) -> int:
        """Number K of local steps of this round."""

    @property
    def round(self) -> int:
        """Number t of the round, from 0."""

    @property
    def local(self) -> int | None:
        """Local steps of the setting, which `Algorithm.length` was given; None under local epochs."""

    @property
    def p(self) -> Array:
        """Probabilities of the clients to be active this round: (m, 1). Raises UserError if they are unknown."""

    @property
    def share(self) -> Array:
        """Samples of a minibatch divided by the samples of its client: (m, 1)."""

    def full(self, y: Array) -> Array:
        """Full local gradients G_i(y): (m, d)."""

    def mean(self, y: Array) -> Array:
        """Means of the round's K stochastic gradients, all of them taken at y: (m, d)."""

    def pick(self, v: Array) -> Array:
        """Rows (m, d) whose mean over active clients is the row of v of one client that is drawn at random."""

    def first(self, v: Array) -> Array:
        """Rows (m, d) whose mean over active clients is the row of v of the active client of lowest number."""

    def prox(self, v: Array, weight: float) -> Array:
        """Exact minimisers over y of f_i(y) + weight/2 |y - v|^2: (m, d)."""

    def record(self, **values: Any) -> None:
        """Note values of the current local step, (m, 1) each or one number for all clients."""


class Round(Protocol):
    """What the server knows of a round.

    active: number of active clients. clients: number of all clients. round: t, from 0. steps: local steps, averaged
    over active clients. rng: generator of what the server draws in this round.
    """

    @property
    def active(self) -> int: ...

    @property
    def clients(self) -> int: ...

    @property
    def round(self) -> int: ...

    @property
    def steps(self) -> float: ...

    @property
    def rng(self) -> np.random.Generator: ...


class Setting(Protocol):
    """What an algorithm asks of a setting: see `fedatlas.federation.engine.setting`."""

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
    """What an algorithm asks of a problem, or of the declaration of one that has not been made."""

    def has_prox(self) -> bool:
        """Whether clients of this problem have an exact proximal step."""


class Problem(Proximal, Protocol):
    """What an algorithm asks of a problem: see `fedatlas.federation.problems.base`."""

    def constant(self, name: str) -> float | None:
        """A constant of the problem, such as ``mu``; None if it is unknown."""
