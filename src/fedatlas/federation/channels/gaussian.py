"""Gaussian noise on messages."""

from dataclasses import dataclass

import numpy as np

from fedatlas.federation.channels.base import Channel, Coded, Draws, Shapes, word
from fedatlas.federation.channels.clip import clipped
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class Gaussian(Channel):
    """A normal number is added to each entry of a message, after the message was clipped; all numbers are sent.

    With a bound C and a deviation z C / sqrt(|S|) on each of |S| clients, the sum that the server gets has the noise of
    the Gaussian mechanism with noise multiplier z.
    """

    name = "gaussian"
    random = True
    deviation: float = option(doc="standard deviation of the noise on each entry", low=0)
    bound: float | None = option(None, doc="largest norm of a message before the noise; none by default", above=0)

    def code(self, rows: np.ndarray, rng: Draws, shapes: Shapes = ()) -> Coded:
        m, d = rows.shape
        noise = np.stack([rng(i).standard_normal(d) for i in range(m)])
        kept = rows if self.bound is None else clipped(rows, self.bound)
        return Coded((kept + self.deviation * noise).astype(rows.dtype), d * word(rows))
