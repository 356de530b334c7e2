"""Availability by Markov chains."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fedatlas.errors import UserError
from fedatlas.federation.participation import Participants
from fedatlas.federation.participation.independent import IndependentParticipation
from fedatlas.federation.streams import stream
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class Markov(IndependentParticipation):
    """Each client follows a two-state Markov chain, which is stationary from the start with probability p_i.

    In each round a client keeps its state with probability ``persistence``. Otherwise its state is drawn again, and is
    available with probability p_i. So an unavailable client becomes available with probability (1 - persistence) p_i,
    and an available one becomes unavailable with probability (1 - persistence) (1 - p_i).
    """

    name = "markov"
    persistence: float = option(
        0.9, doc="probability that a client keeps its state from one round to the next; below 1", low=0, high=1
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.persistence == 1:
            raise UserError(
                f"{self.title()}: persistence is 1, so no client would ever change its state; it must be below 1"
            )

    def bind(self, problem: Any, clients: int, seed: int) -> Participants:
        """Return the participants of one run. Raises UserError if p is `labels` and the problem has no labels."""
        p = self.base_probabilities(problem, clients, seed)
        round, available = -1, np.zeros(clients, bool)  # of the last question: the next round costs one step of it

        def active(t: int) -> np.ndarray:
            nonlocal round, available
            if t < round:
                round = -1
            while round < t:
                round += 1
                stays, fresh = stream(seed, "participation", round).random((2, clients))
                keep = (stays < self.persistence) & (round > 0)
                available = np.where(keep, available, fresh < p)
            return np.flatnonzero(available)

        return Participants(active, lambda t: self.at(p, t))
