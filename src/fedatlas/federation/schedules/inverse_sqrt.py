"""A step size that decays as one over a square root."""

from dataclasses import dataclass

from fedatlas.federation.schedules import Schedule
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class InverseSqrt(Schedule):
    """The factor of round t is 1 / sqrt(t / period + 1) (FedAWE, Appendix J)."""

    name = "inverse-sqrt"
    period: float = option(10, doc="round in which the factor is 1 / sqrt(2)", unit="rounds", above=0)

    def factor(self, round: int) -> float:
        return (round / self.period + 1) ** -0.5
