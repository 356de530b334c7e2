"""Clipping of messages."""

from dataclasses import dataclass

import numpy as np

from fedatlas.federation.channels.base import Channel, Coded, Draws, norms, word
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class Clip(Channel):
    """Vectors longer than a bound are scaled to it; all numbers are sent."""

    name = "clip"
    bound: float = option(doc="largest norm of a message", above=0)

    def code(self, rows: np.ndarray, rng: Draws) -> Coded:
        return Coded(clipped(rows, self.bound), rows.shape[1] * word(rows))


def clipped(rows: np.ndarray, bound: float) -> np.ndarray:
    """Return rows (m, d), scaled to a norm of at most ``bound``."""
    return np.asarray(rows * (bound / np.maximum(norms(rows), bound)), rows.dtype)
