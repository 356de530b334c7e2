"""The base class of rules in which each client is available with its probability, independently of the others.

The dynamics are those of FedAWE (Xiang et al. 2024, Sections 4 and 7): client i is available in round t with
probability p_i^t = p_i f(t), clipped to [0, 1].
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from fedatlas.errors import UserError
from fedatlas.federation.participation import Participants, Participation
from fedatlas.federation.streams import stream
from fedatlas.registry.options import option

LABELS = "labels"


@dataclass(frozen=True, kw_only=True)
class IndependentParticipation(Participation):
    """A rule with base probabilities p_i."""

    p: float | list[float] | Literal["labels"] = option(
        doc="probability to be available: one for all clients, or one for each; or `labels`: p_i is the inner product "
        "of the label shares of client i with a vector u that is drawn once from the seed, uniform on [0, 1] for the "
        "first half of the classes and on [0, 0.5] for the second",
        above=0,
        high=1,
    )

    def factor(self, t: int) -> float:
        """Return f(t)."""
        return 1.0

    def at(self, p: np.ndarray, t: int) -> np.ndarray:
        """Return the probabilities p_i^t (clients,) of round t, from the base probabilities p (clients,)."""
        return np.clip(p * self.factor(t), 0, 1)

    def bind(self, problem: Any, clients: int, seed: int) -> Participants:
        """Return the participants of one run. Raises UserError if p is `labels` and the problem has no labels."""
        p = self.base_probabilities(problem, clients, seed)

        def active(t: int) -> np.ndarray:
            return np.flatnonzero(stream(seed, "participation", t).random(clients) < self.at(p, t))

        return Participants(active, lambda t: self.at(p, t))

    def base_probabilities(self, problem: Any, clients: int, seed: int) -> np.ndarray:
        """Return the base probabilities p_i (clients,) of one run."""
        if self.p != LABELS:
            return np.broadcast_to(np.asarray(self.p, float), (clients,))
        shares = problem.label_shares(clients)
        classes = shares.shape[1]
        u = stream(seed, "availability").random(classes)
        u[(classes + 1) // 2 :] /= 2
        return shares @ u

    def validate_clients(self, clients: int) -> None:
        """Raise UserError if p is a list whose length is neither 1 nor the number of clients."""
        if isinstance(self.p, (list, tuple)) and len(self.p) not in (1, clients):
            raise UserError(
                f"{self.title()}: p has {len(self.p)} values; give one for all clients, or one for each client "
                f"(clients = {clients}), or {LABELS!r}"
            )
