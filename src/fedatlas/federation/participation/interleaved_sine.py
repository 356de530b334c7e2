"""Availability that follows a sine and is interrupted where it is small."""

from dataclasses import dataclass

import numpy as np

from fedatlas.federation.participation.sine import Sine
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class InterleavedSine(Sine):
    """As ``sine``, but a p_i^t below ``cutoff`` is 0.

    Some clients are absent for several rounds, or for the whole run.
    """

    name = "interleaved-sine"
    cutoff: float = option(0.1, doc="probability below which a client is never available", low=0, high=1)

    def at(self, p: np.ndarray, t: int) -> np.ndarray:
        probabilities = super().at(p, t)
        return np.where(probabilities < self.cutoff, 0.0, probabilities)
