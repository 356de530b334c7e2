"""Minibatches of clients of a network: losses, gradients and outputs."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from fedatlas.federation import arrays
from fedatlas.federation.networks.samples import Source, as_source

if TYPE_CHECKING:
    from fedatlas.federation.networks.network import Network

CHUNK = 1000  # rows that go through the module at once where they are not one minibatch


class NetworkBatch:
    """Minibatches of m clients.

    Args:
        problem: The network.
        rows: Draws of each client, m tensors (b,), which may differ in length. A draw is a row of the data; where they
            are augmented, plus the number of rows times the variant.
        factors: Factors of the clients' losses, (m, 1), or None for 1.
    """

    def __init__(self, problem: "Network", rows: list[Tensor], factors: Tensor | None = None) -> None:
        self.problem, self.rows, self.factors = problem, rows, factors
        self.size = np.array([len(draws) for draws in rows])
        self._cache: dict[int, list[tuple[Tensor, ...]]] = {}
        self._stack: tuple[Tensor, ...] = ()

    def _batches(self, client: int) -> Iterable[tuple[Tensor, ...]]:
        rows = self.rows[client]
        if len(rows) > CHUNK:
            return map(self.problem.inputs, rows.split(CHUNK))
        if client not in self._cache:
            self._cache[client] = [self.problem.inputs(rows)]
        return self._cache[client]

    def _source(self, client: int) -> tuple[Source, Tensor]:
        """Return the samples of a client's minibatch, as compiled passes take them, and its rows of them."""
        draws = self.rows[client]
        if self.problem.augmentation is None or int(draws.max()) < self.problem.samples:  # images as they are
            return self.problem.train.source, draws
        data, labels, *_ = self.problem.inputs(draws)
        neutral = data.new_zeros(()), data.new_ones(())
        return as_source(data.movedim(1, -1), labels, neutral), torch.arange(len(labels))

    @property
    def stackable(self) -> bool:
        """Whether the gradients of all m clients can be computed in one pass."""
        return (
            self.problem.block_rows > 1 and len(self.rows[0]) <= CHUNK and len({len(draws) for draws in self.rows}) == 1
        )

    def _in_one_pass(self, y: Tensor) -> tuple[Tensor, Tensor]:
        """Return losses without l2, (m,), and gradients with it, (m, d), from one pass."""
        problem, m = self.problem, len(self.rows)
        if not self._stack:
            self._stack = tuple(v.unflatten(0, (m, -1)) for v in problem.inputs(torch.cat(self.rows)))
        y = arrays.rows(y, m)
        values, grads = problem.stacked.value_and_grad(y, *self._stack)
        if self.factors is None:
            return values.clone(), self._penalised(grads.clone(), y)
        return values * self.factors[:, 0], self._penalised(grads * self.factors, y)

    def _mean_loss(self, client: int, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return the mean loss of a client's minibatch at x, (d,), and its gradient, a new vector (d,)."""
        replica, loss, rows = self.problem.replica, self.problem.loss, self.rows[client]
        if replica.passes is not None:
            return replica.passes.value_and_grad(x, *self._source(client), loss.logistic)
        value, grad = replica.value_and_grad(x, self._batches(client), loss, len(rows))
        return value, grad.clone()

    def _one_by_one(self, y: Tensor) -> tuple[Tensor, Tensor]:
        """Return the same, client by client."""
        values, grads = [], []
        for client, x in enumerate(arrays.rows(y, len(self.rows))):
            value, grad = self._mean_loss(client, x)
            if self.factors is not None:
                factor = self.factors[client, 0]
                value, grad = value * factor, grad * factor
            values.append(value)
            grads.append(self._penalised(grad, x))
        return _stack(values), _stack(grads)

    def _penalised(self, grad: Tensor, y: Tensor) -> Tensor:
        """Return gradients of losses after that of the l2 term at y is added to them."""
        return grad.add_(y, alpha=self.problem.l2) if self.problem.l2 else grad

    def grad(self, y: Tensor) -> Tensor:
        """Return the gradients at y, (m, d) or (d,): (m, d)."""
        return (self._in_one_pass(y) if self.stackable else self._one_by_one(y))[1]

    def value_and_grad(self, y: Tensor) -> tuple[Tensor, Tensor]:
        """Return the losses, (m, 1), and gradients, (m, d), at y."""
        values, grads = self._in_one_pass(y) if self.stackable else self._one_by_one(y)
        values = values[:, None]
        if self.problem.l2:
            values = values + self.problem.l2 / 2 * arrays.dot(y, y)
        return values, grads


def _stack(vectors: list[Tensor]) -> Tensor:
    return vectors[0][None] if len(vectors) == 1 else torch.stack(vectors)


def augment(x: Tensor, variant: Tensor, crop: int) -> Tensor:
    """Return images in their variants; variant 0 is the image itself.

    With s = 2 crop + 1, ``v % s**2`` names a window of the padded image, which is mirrored where v is at least s^2.

    Args:
        x: Images, (b, channels, height, width).
        variant: Variant v of each image, (b,), below the ``variants`` of the problem's `Augmentation`.
        crop: Pixels of padding on every side.
    """
    sides = 2 * crop + 1
    down, right = ((v + crop) % sides for v in (variant // sides % sides, variant % sides))
    rows = down[:, None] + torch.arange(x.shape[2], device=x.device)
    columns = torch.arange(x.shape[3], device=x.device).expand(len(x), -1)
    mirrored = (variant >= sides**2)[:, None]
    columns = right[:, None] + torch.where(mirrored, x.shape[3] - 1 - columns, columns)
    padded = F.pad(x, (crop,) * 4)
    images = torch.arange(len(x), device=x.device)[:, None, None]
    return padded.movedim(1, -1)[images, rows[:, :, None], columns[:, None, :]].movedim(-1, 1)
