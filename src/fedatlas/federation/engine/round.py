"""One round of a run, as algorithms and the engine know it."""

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from fedatlas.federation.streams import random_client, stream


@dataclass(frozen=True, eq=False, kw_only=True)
class Round:
    """What is known of a round besides data.

    round: t, from 0. ids: of the active clients, (active,). clients: number of all clients. steps: local steps of the
    round; where clients take different numbers of them, the mean over the active clients. local_steps: those of the
    setting, from which ``Algorithm.length`` made ``steps``; None for local epochs. batch: samples of a minibatch where
    the draws are whole passes over the data, else None. clip: largest norm of a minibatch gradient. seed: of the run.
    probabilities: (clients,) of each client to be active, or None where they are unknown. wanted: names that
    ``Steps.record`` keeps. like: a vector of the model.
    """

    round: int
    ids: np.ndarray
    clients: int
    steps: float
    local_steps: int | None = None
    batch: int | None = None
    clip: float | None = None
    seed: int = 0
    probabilities: np.ndarray | None = None
    wanted: tuple[str, ...] = ()
    like: Any = None

    @property
    def active(self) -> int:
        """Number of active clients."""
        return len(self.ids)

    @functools.cached_property
    def rng(self) -> np.random.Generator:
        """Generator for what the server draws in this round."""
        return stream(self.seed, "algorithm", self.round, 0)

    @functools.cached_property
    def drawn(self) -> int:
        """Id of one active client, drawn uniformly."""
        return int(self.ids[random_client(self.seed, self.round, self.active)])
