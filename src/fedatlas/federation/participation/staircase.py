"""Availability that alternates between two levels."""

from dataclasses import dataclass

from fedatlas.federation.participation.independent import IndependentParticipation
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class Staircase(IndependentParticipation):
    """f(t) alternates between 1 and ``low``, for ``length`` rounds each."""

    name = "staircase"
    low: float = option(0.4, doc="the lower of the two values of f", low=0, high=1)
    length: int = option(10, doc="rounds for which f keeps a value", unit="rounds", low=1)

    def factor(self, t: int) -> float:
        return self.low if t // self.length % 2 else 1.0
