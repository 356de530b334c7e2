"""One round of a run, for algorithms and the engine."""

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from fedatlas.errors import UserError
from fedatlas.federation.arrays import Array
from fedatlas.federation.streams import random_client, stream

if TYPE_CHECKING:
    from fedatlas.federation.engine.protocols import Setting
    from fedatlas.federation.participation import Participants

T = TypeVar("T")


def call(hook: Callable[..., T], *arguments: Any) -> T:
    """Return what a hook returns that may take its last arguments or leave them out."""
    parameters = inspect.signature(hook).parameters.values()
    if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters):
        return hook(*arguments)
    return hook(*arguments[: len(parameters)])


@dataclass(frozen=True, eq=False, kw_only=True)
class Round:
    """One round, without its data.

    Attributes:
        round: Number t of the round, from 0.
        order: Ids of the active clients, (active,), in the order in which they compute.
        clients: Number of all clients.
        steps: Local steps of the round; where clients take different numbers of them, the mean over active clients.
        local_steps: Local steps of the setting, from which ``Algorithm.length`` made ``steps``; None for local epochs.
        batch: Samples of a minibatch where the draws are passes over the data, else None.
        clip: Largest norm of a minibatch gradient.
        exact_gradients: Whether full gradients are exact, and not means of the round's minibatch gradients.
        seed: Seed of the run.
        probabilities: Probability of each client to be active, (clients,), or None where they are unknown.
        recorded: Names of the values that ``Steps.record`` keeps.
        discount: Mean over messages of the weights that a driver gave them.
        vector: A vector of the model, for library, device and type of numbers.
        held: Function that draws a minibatch of rows that no client has.
    """

    round: int
    order: np.ndarray
    clients: int
    steps: float
    local_steps: int | None = None
    batch: int | None = None
    clip: float | None = None
    exact_gradients: bool = True
    seed: int = 0
    probabilities: np.ndarray | None = None
    recorded: tuple[str, ...] = ()
    discount: float = 1.0
    vector: Any = None
    held: Callable[[np.random.Generator, int], Any] = lambda rng, samples: None

    @classmethod
    def of(
        cls,
        setting: "Setting",
        participants: "Participants",
        t: int,
        active: np.ndarray,
        steps: float,
        seed: int,
        vector: Array,
        held: Callable[[np.random.Generator, int], Any],
    ) -> "Round":
        """Return round t of a run. active: Ids of the active clients, in the order in which they compute."""
        return cls(
            round=t,
            order=active,
            clients=setting.clients,
            steps=steps,
            local_steps=setting.local_steps,
            batch=None if setting.local_epochs is None else setting.batch,
            clip=setting.clip,
            exact_gradients=setting.exact_gradients,
            seed=seed,
            probabilities=participants.probabilities(t),
            recorded=setting.recorded(t + 1),
            vector=vector,
            held=held,
        )

    @property
    def active(self) -> int:
        """Number of active clients."""
        return len(self.order)

    @functools.cached_property
    def ids(self) -> np.ndarray:
        """Ids of the active clients, (active,), in the order of the rows that the server gets: ascending."""
        return np.sort(self.order)

    @property
    def expected_active(self) -> float:
        """Expected number of active clients, the sum of their probabilities. Raises UserError if it is unknown."""
        if self.probabilities is None:
            raise UserError(
                "the expected number of active clients of this participation is unknown: take an algorithm that does "
                "not use it"
            )
        return float(self.probabilities.sum())

    @functools.cached_property
    def rng(self) -> np.random.Generator:
        """Generator of the server's draws in this round."""
        return stream(self.seed, "algorithm", self.round, 0)

    def public(self, samples: int) -> Any:
        """Return a minibatch of rows that no client has, which the server holds, drawn with replacement."""
        return self.held(self.rng, samples)

    @functools.cached_property
    def random_client(self) -> int:
        """Id of one active client, drawn uniformly."""
        return int(self.order[random_client(self.seed, self.round, self.active)])
