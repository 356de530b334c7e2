"""Step-size schedules: factors on an algorithm's ``lr``, by round."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Constant:
    """factor 1"""

    def factor(self, round):
        return 1.0


@dataclass(frozen=True)
class Exponential:
    """factor decay^t (FedSpeed, Section 5.1)"""

    decay: float

    def factor(self, round):
        return self.decay**round


@dataclass(frozen=True)
class InverseSqrt:
    """factor 1 / sqrt(t / period + 1) (FedAWE, Appendix J)"""

    period: float = 10

    def factor(self, round):
        return (round / self.period + 1) ** -0.5


KINDS = {"constant": Constant, "exponential": Exponential, "inverse-sqrt": InverseSqrt}
