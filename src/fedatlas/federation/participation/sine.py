"""Availability that follows a sine."""

from dataclasses import dataclass

import numpy as np

from fedatlas.federation.participation.independent import IndependentParticipation
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class Sine(IndependentParticipation):
    """f(t) = gamma sin(2 pi t / period) + 1 - gamma; with one p for all clients, Example 2 of FedAWE's Section 4."""

    name = "sine"
    gamma: float = option(0.3, doc="degree of non-stationarity", low=0, high=1)
    period: int = option(20, doc="length of one period of the sine", unit="rounds", low=1)

    def factor(self, t: int) -> float:
        return self.gamma * np.sin(2 * np.pi * t / self.period) + 1 - self.gamma
