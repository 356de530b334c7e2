"""A step size that decays geometrically."""

from dataclasses import dataclass

from fedatlas.federation.schedules import Schedule
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class Exponential(Schedule):
    """The factor of round t is decay^t (FedSpeed, Section 5.1)."""

    name = "exponential"
    decay: float = option(doc="factor from one round to the next", above=0)

    def factor(self, round: int) -> float:
        return self.decay**round
