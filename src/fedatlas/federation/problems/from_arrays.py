"""Regressions as Python offers them: of plain arrays, lists of the rows of each client, and weights of rows."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fedatlas.errors import UserError
from fedatlas.federation.problems import logistic, softmax
from fedatlas.federation.problems.array_validation import (
    ClientRows,
    as_evaluation_data,
    as_features,
    as_labels,
    as_partition,
    as_sample_weights,
    as_start,
    loss_factors,
)
from fedatlas.federation.problems.base import Batch, Optimum
from fedatlas.federation.problems.regression import Penalty, Separate
from fedatlas.registry.options import construct

Part = tuple[Any, ArrayLike]  # features and labels of rows that train nothing


class Logistic(logistic.Logistic):
    """l2-regularised logistic regression on rows of two classes, without bias.

    A: (n, d) features, dense or CSR. b: (n,) labels 0 and 1. l2: weight of |x|^2 / 2, or ``"1/n"``. partition: rows of
    each client, as a list of arrays or what `fedatlas.federation.partitions.split` returns; None where every client draws from all
    rows. test, validation: (A, b) or None. options: of the kind ``logistic``. Raises UserError on arrays that do not
    fit.

    >>> import fedatlas
    >>> problem = fedatlas.Logistic([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0, 1, 1], l2=0.1, partition=[[0, 1], [2]])
    >>> problem.dim, problem.partition.sizes.tolist()
    (2, [2, 1])
    """

    def __init__(
        self,
        A: Any,
        b: ArrayLike,
        l2: Penalty = 0.0,
        partition: ClientRows = None,
        test: Part | None = None,
        validation: Part | None = None,
        **options: Any,
    ) -> None:
        construct("problem logistic", logistic.LogisticRegression, {"l2": l2, **options})
        A = as_features(A)
        labels, classes = as_labels(b, A.shape[0])
        if classes > 2:
            raise UserError(f"logistic regression needs two classes, the data have {classes}: use softmax")
        split, others = (
            as_partition(partition, A.shape[0]),
            [as_evaluation_data(one, A.shape[1]) for one in (test, validation)],
        )
        super().__init__(A, labels, l2, split, *others, **options)


class Softmax(softmax.Softmax):
    """l2-regularised multinomial logistic regression on rows of any number of classes.

    A: (n, p) features. y: (n,) labels 0, 1, ... classes: by default one more than the largest label. x is the flat (d,)
    vector of the weights (classes, p), row by row, and then the biases (classes,). l2, partition, test, validation: as
    of `Logistic`. sample_weight: (n,) weights of the losses of rows, or None for 1: all means over rows are weighted
    means. start: first point (d,), by default 0. options: of the kind ``softmax``. Raises UserError on arrays that do
    not fit.

    >>> import fedatlas
    >>> problem = fedatlas.Softmax([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0, 1, 2], l2=0.1, partition=[[0, 1], [2]])
    >>> problem.dim, problem.partition.sizes.tolist()
    (9, [2, 1])
    """

    def __init__(
        self,
        A: Any,
        y: ArrayLike,
        classes: int | None = None,
        l2: Penalty = 0.0,
        partition: ClientRows = None,
        test: Part | None = None,
        validation: Part | None = None,
        sample_weight: ArrayLike | None = None,
        start: ArrayLike | None = None,
        **options: Any,
    ) -> None:
        construct("problem softmax", softmax.SoftmaxRegression, {"l2": l2, **options})
        A = as_features(A)
        labels, count = as_labels(y, A.shape[0], classes)
        split, others = (
            as_partition(partition, A.shape[0]),
            [as_evaluation_data(one, A.shape[1]) for one in (test, validation)],
        )
        super().__init__(A, labels, count, l2, split, *others, **options)
        self.mass = None if sample_weight is None else as_sample_weights(sample_weight, self.samples)
        if self.mass is not None:
            self._shares = loss_factors(self.mass, split, self._shares)
        self._start = None if start is None else as_start(start, self.dim).astype(self.dtype)

    def start_from(self, rng: Any) -> np.ndarray:
        return super().start_from(rng) if self._start is None else self._start.copy()

    def batch(self, clients: np.ndarray, index: np.ndarray) -> Batch:
        if self.mass is None:
            return super().batch(clients, index)
        if index.shape[1] > self.samples // 8:  # as in the base class
            counts, size = (np.bincount(own, minlength=self.samples) for own in index), index.shape[1]
            weights = (own * self.mass * (self.share(i) / size) for own, i in zip(counts, clients, strict=True))
            return Separate([softmax.Rows(self, self.A[None], self.y[None], own[None], size) for own in weights])
        weights = self.mass[index] * (self.shares(clients) / index.shape[1])
        return softmax.Rows(self, self.A[index], self.y[index], weights)

    @functools.lru_cache(maxsize=512)  # noqa: B019  as in the base class
    def _own(self, i: int) -> softmax.Rows:
        if self.mass is None or self.partition is None:
            return super()._own(i)
        index = self.partition.client(i)
        weights = self.mass[index] * (self.share(i) / len(index))
        return softmax.Rows(self, self.A[index][None], self.y[index][None], weights[None])

    @functools.cached_property
    def _everything(self) -> softmax.Rows:
        return softmax.Rows(
            self, self.A[None], self.y[None], None if self.mass is None else self.mass[None] / self.samples
        )

    def value(self, x: np.ndarray) -> float:
        return super().value(x) if self.mass is None else self.value_and_gradient(x)[0]

    def hessian_product(self, x: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        if self.mass is None:
            return super().hessian_product(x)
        p, mass = softmax._softmax(self.scores(self.A, x))[0], self.mass[:, None]

        def product(v: np.ndarray) -> np.ndarray:
            q = p * self.scores(self.A, v)
            q = (q - p * q.sum(axis=1, keepdims=True)) * mass
            return self._hessian_from(q, v)

        return product

    @functools.cached_property
    def smoothness(self) -> float:
        return self._curvature(slice(None)) + self.l2

    @functools.cached_property
    def client_smoothness(self) -> float:
        if self.partition is None:
            return self.smoothness
        each = range(self.partition.clients)
        return max(self.share(i) * self._curvature(self.partition.client(i)) for i in each) + self.l2

    def _curvature(self, index: Any) -> float:
        """Largest curvature of the weighted mean loss of some rows."""
        A = self.A[index]
        if self.mass is None:
            return self.curvature(A)
        A = np.insert(A, A.shape[1], 1, axis=1) if self.bias else A
        A = A * np.sqrt(self.mass[index])[:, None]
        gram = A @ A.T if A.shape[1] > A.shape[0] else A.T @ A
        return float(np.linalg.eigvalsh(gram.astype(np.float64))[-1] / (2 * A.shape[0]))

    def evaluate(self, x: np.ndarray) -> dict[str, float]:
        found = super().evaluate(x)
        if self.mass is None:
            return found
        found["loss"] = self.value(x)
        found["accuracy"] = float(np.average(self.scores(self.A, x).argmax(axis=1) == self.y, weights=self.mass))
        if self.optimum is not None:
            found["suboptimality"] = found["loss"] - self.optimum.F
        return found

    def solve(self) -> Optimum:
        if self.mass is None or self.dtype == np.float64:
            return super().solve()
        return Softmax(self.A, self.y, self.classes, self.l2, bias=self.bias, sample_weight=self.mass).solve()
