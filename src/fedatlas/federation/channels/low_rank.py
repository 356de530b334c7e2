"""The best approximation of low rank."""

import math
from dataclasses import dataclass

import numpy as np

from fedatlas.federation.channels.base import Channel, Coded, Draws, Shapes, word
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class LowRank(Channel):
    """Of each layer's matrix the best approximation of rank r is sent (Vogels et al. 2019); alpha = r/min(a, b).

    The parameters of a layer are a matrix of a rows, one for each output, and b columns. Layers of one dimension, such
    as biases, are sent as they are. Where the model has no layers, a vector fills the rows of a matrix with
    a = ceil(sqrt(d)) and b = ceil(d / a), the last of which zeros fill up. A message holds r (a + b) numbers, or all
    a b numbers where these are fewer. The approximation is that of the singular value decomposition, and no power
    iteration.
    """

    name = "low-rank"
    rank: int = option(doc="r", low=1)

    def code(self, rows: np.ndarray, rng: Draws, shapes: Shapes = ()) -> Coded:
        d = rows.shape[1]
        values, start, numbers = np.array(rows), 0, 0
        for shape in shapes or [(d,)]:
            size = math.prod(shape)
            matrix = _matrix(shape, bool(shapes))
            sent = size
            if matrix is not None and self.rank * sum(matrix) < size:
                sent = self.rank * sum(matrix)
                part = rows[:, start : start + size]
                values[:, start : start + size] = [self._approximation(row, *matrix) for row in part]
            numbers, start = numbers + sent, start + size
        return Coded(values, numbers * word(rows))

    def _approximation(self, row: np.ndarray, a: int, b: int) -> np.ndarray:
        """Return the best approximation of rank r of a vector that fills a matrix (a, b)."""
        scale = np.abs(row).max() or 1  # squares of large entries would overflow
        padded = np.zeros(a * b, row.dtype)
        padded[: row.size] = row / scale
        U, sizes, V = np.linalg.svd(padded.reshape(a, b), full_matrices=False)
        r = self.rank
        return np.asarray(scale * ((U[:, :r] * sizes[:r]) @ V[:r]).ravel()[: row.size])

    def alpha(self, d: int) -> float:
        """Return the contraction constant where the model has no layers."""
        a, b = _square(d)
        return 1.0 if self.rank * (a + b) >= d else self.rank / min(a, b)


def _square(d: int) -> tuple[int, int]:
    """Return the rows and columns of the most square matrix that holds d entries."""
    a = math.isqrt(d - 1) + 1
    return a, -(-d // a)


def _matrix(shape: tuple[int, ...], layer: bool) -> tuple[int, int] | None:
    """Return the rows and columns of a layer's matrix, None for a layer of one dimension."""
    if not layer:
        return _square(shape[0])
    return (shape[0], math.prod(shape[1:])) if len(shape) > 1 else None
