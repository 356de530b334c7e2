"""Training data as tensors that stay in the device's memory."""

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike
from scipy import sparse
from torch import Tensor

Source = tuple[np.ndarray, np.ndarray, np.ndarray, tuple[np.ndarray, np.ndarray]]
DTYPES = {"float32": torch.float32, "float64": torch.float64}


class Samples:
    """Rows of data and their labels.

    A network is given (X - shift) * scale, computed for each batch as it is gathered.

    Args:
        X: Data, (n, channels, height, width) or (n, p), dense or CSR; uint8 stays uint8.
        y: Labels, (n,) whole numbers, or (n, ...) numbers for a loss that takes them.
        shift: A number, or one for each channel; None for 0.
        scale: A number, or one for each channel; None for 1.
        dtype: Type of the network's inputs, ``float32`` or ``float64``.
        device: Device that holds all of it.
    """

    def __init__(
        self,
        X: Any,
        y: ArrayLike,
        shift: ArrayLike | None = None,
        scale: ArrayLike | None = None,
        dtype: str = "float32",
        device: str | torch.device = "cpu",
    ) -> None:
        self.dtype, self.device = DTYPES[dtype], torch.device(device)
        X = X.toarray() if sparse.issparse(X) else X
        # channels lie last in memory: convolutions and poolings are faster so
        X = np.array(np.moveaxis(X, 1, -1), order="C")
        self.X = torch.from_numpy(X).to(self.device, None if X.dtype == np.uint8 else self.dtype)
        labels = np.array(y)
        kind = self.dtype if labels.dtype.kind == "f" else torch.int64
        self.y = torch.from_numpy(labels).to(self.device, kind)
        self.shift, self.scale = (None if v is None else self.tensor(v) for v in (shift, scale))

    def tensor(self, value: ArrayLike) -> Tensor:
        """Return numbers as a tensor of the inputs' type on the device."""
        return torch.as_tensor(value, dtype=self.dtype, device=self.device)

    def __len__(self) -> int:
        return len(self.y)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of what a network is given for a row, (channels, height, width) or (p,)."""
        return (self.X.shape[-1], *self.X.shape[1:-1])

    @functools.cached_property
    def source(self) -> Source:
        """Samples as compiled passes read them on a processor; see ``as_source``."""
        neutral = self.tensor(0.0), self.tensor(1.0)
        scaling = [n if v is None else v for v, n in zip((self.shift, self.scale), neutral, strict=True)]
        return as_source(self.X, self.y, scaling)

    def index(self, rows: ArrayLike) -> Tensor:
        """Return row numbers of any shape as a tensor on the device, int64 so that passes compile for one type."""
        return torch.as_tensor(np.ascontiguousarray(rows, np.int64), device=self.device)

    def gather(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Return a network's inputs for rows, (b,) numbers: (b, ...), and their labels, (b,)."""
        x, y = self.X.index_select(0, rows), self.y.index_select(0, rows)
        x = x.to(self.dtype) if self.shift is None else x - self.shift
        return (x if self.scale is None else x.mul_(self.scale)).movedim(-1, 1), y


def as_source(X: Tensor, y: Tensor, scaling: Sequence[Tensor]) -> Source:
    """Return what compiled passes read.

    Args:
        X: Rows, (n, height, width, channels) or (n, p).
        y: Labels, (n,).
        scaling: Shift and scale, numbers or (channels,), of the type of the network's inputs.

    Returns:
        Flat arrays of NumPy: the rows if they are bytes, the rows if they are not, the labels, and shift and scale of
        each number of a row of pixels.
    """
    shift, scale = (v.expand(X.shape[X.ndim // 2 :]).flatten().contiguous().numpy() for v in scaling)
    numbers = X.reshape(-1).numpy()
    if numbers.dtype == np.uint8:
        return numbers, shift[:0], y.numpy(), (shift, scale)
    return np.empty(0, np.uint8), numbers, y.numpy(), (shift, scale)


def channel_moments(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and 1 / standard deviation of each channel, (channels,), of uint8 images (n, channels, h, w)."""
    values = np.arange(256)
    counts = np.zeros((X.shape[1], 256))
    for start in range(0, len(X), 10_000):
        for c, count in enumerate(counts):
            count += np.bincount(X[start : start + 10_000, c].ravel(), minlength=256)
    weights = counts / counts.sum(axis=1, keepdims=True)
    mean = weights @ values
    deviation = np.sqrt(weights @ values**2 - mean**2)
    return mean, 1 / np.where(deviation > 0, deviation, 1)
