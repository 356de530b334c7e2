"""Availability whose probabilities change at given rounds."""

from dataclasses import dataclass

import numpy as np

from fedatlas.errors import UserError
from fedatlas.federation.participation.independent import IndependentParticipation
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class Phases(IndependentParticipation):
    """Each phase of ``length`` rounds has probabilities of its own: those of the first phase are ``p``.

    The further phases are ``then``, one list for each. After the last phase the first begins again.
    """

    name = "phases"
    then: list[list[float]] = option(
        doc="probabilities of the further phases: for each phase a list, of one for all clients or one for each client",
        filled=True,
    )
    length: int = option(doc="rounds of a phase", unit="rounds", low=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        for p in self.then:
            if not p or not all(0 < probability <= 1 for probability in p):
                raise UserError(f"{self.title()}: then has {p}; it must hold numbers above 0, at most 1")

    def at(self, p: np.ndarray, t: int) -> np.ndarray:
        """Return the probabilities p_i^t (clients,) of round t, from those of the first phase p (clients,)."""
        phase = t // self.length % (1 + len(self.then))
        return np.broadcast_to(self.then[phase - 1], p.shape).astype(float) if phase else p

    def validate_clients(self, clients: int) -> None:
        """Raise UserError if a list of probabilities has a length that is neither 1 nor the number of clients."""
        super().validate_clients(clients)
        for p in self.then:
            if len(p) not in (1, clients):
                raise UserError(f"{self.title()}: a list of then has {len(p)} values; give 1 or {clients} (clients)")
