"""Regressions on plain arrays, the classes of the Python interface, with weights of rows."""

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
from fedatlas.federation.problems.regression import ClientBatches, Penalty
from fedatlas.registry.validation import construct

EvaluationData = tuple[Any, ArrayLike]  # features and labels of test or validation rows


class Logistic(logistic.Logistic):
    """l2-regularised logistic regression on rows of two classes, without bias.

    Args:
        A: Features (n, d), dense or CSR.
        b: Labels (n,), 0 and 1.
        l2: Weight of |x|^2 / 2, or ``"1/n"``.
        partition: Rows of each client, as a list of arrays or the result of `fedatlas.federation.partitions.split`;
            None if every client draws from all rows.
        test: Features and labels of test rows, or None.
        validation: Features and labels of validation rows, or None.
        **options: Options of the kind ``logistic``.

    Raises:
        UserError: The arrays do not fit.

    Examples:
        >>> import fedatlas
        >>> problem = fedatlas.Logistic([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0, 1, 1], partition=[[0, 1], [2]])
        >>> problem.dim, problem.partition.sizes.tolist()
        (2, [2, 1])
    """

    def __init__(
        self,
        A: Any,
        b: ArrayLike,
        l2: Penalty = 0.0,
        partition: ClientRows = None,
        test: EvaluationData | None = None,
        validation: EvaluationData | None = None,
        **options: Any,
    ) -> None:
        construct("problem logistic", logistic.LogisticRegression, {"l2": l2, **options})
        A = as_features(A)
        labels, classes = as_labels(b, A.shape[0])
        if classes > 2:
            raise UserError(f"logistic regression needs two classes, the data have {classes}: use softmax")
        split = as_partition(partition, A.shape[0])
        evaluation = [as_evaluation_data(data, A.shape[1]) for data in (test, validation)]
        super().__init__(A, labels, l2, split, *evaluation, **options)


class Softmax(softmax.Softmax):
    """l2-regularised multinomial logistic regression on rows of any number of classes.

    x is the flat (d,) vector of the weights (classes, p), row by row, and then the biases (classes,).

    Args:
        A: Features (n, p).
        y: Labels (n,), whole numbers from 0.
        classes: Number of classes; by default one more than the largest label.
        l2: Weight of |x|^2 / 2, or ``"1/n"``.
        partition: Rows of each client, as of `Logistic`.
        test: Features and labels of test rows, or None.
        validation: Features and labels of validation rows, or None.
        sample_weight: Weights (n,) of the losses of rows, or None for 1: all means over rows are weighted means.
        start: First point (d,), by default 0.
        **options: Options of the kind ``softmax``.

    Raises:
        UserError: The arrays do not fit.

    Examples:
        >>> import fedatlas
        >>> problem = fedatlas.Softmax([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0, 1, 2], partition=[[0, 1], [2]])
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
        test: EvaluationData | None = None,
        validation: EvaluationData | None = None,
        sample_weight: ArrayLike | None = None,
        start: ArrayLike | None = None,
        **options: Any,
    ) -> None:
        construct("problem softmax", softmax.SoftmaxRegression, {"l2": l2, **options})
        A = as_features(A)
        labels, count = as_labels(y, A.shape[0], classes)
        split = as_partition(partition, A.shape[0])
        evaluation = [as_evaluation_data(data, A.shape[1]) for data in (test, validation)]
        super().__init__(A, labels, count, l2, split, *evaluation, **options)
        self.mass = None if sample_weight is None else as_sample_weights(sample_weight, self.samples)
        if self.mass is not None:
            self._loss_factors = loss_factors(self.mass, split, self._loss_factors)
        self._start = None if start is None else as_start(start, self.dim).astype(self.dtype)

    def start_from(self, rng: Any) -> np.ndarray:
        return super().start_from(rng) if self._start is None else self._start.copy()

    def batch(self, clients: np.ndarray, index: np.ndarray) -> Batch:
        if self.mass is None:
            return super().batch(clients, index)
        if index.shape[1] > self.samples // 8:  # as in the base class
            counts, size = (np.bincount(draws, minlength=self.samples) for draws in index), index.shape[1]
            weights = (
                count * self.mass * (self.loss_factor(i) / size) for count, i in zip(counts, clients, strict=True)
            )
            return ClientBatches(
                [softmax.SoftmaxBatch(self, self.A[None], self.y[None], w[None], size) for w in weights]
            )
        weights = self.mass[index] * (self.loss_factors(clients) / index.shape[1])
        return softmax.SoftmaxBatch(self, self.A[index], self.y[index], weights)

    @functools.lru_cache(maxsize=512)  # noqa: B019  as in the base class
    def _client_batch(self, i: int) -> softmax.SoftmaxBatch:
        if self.mass is None or self.partition is None:
            return super()._client_batch(i)
        index = self.partition.client(i)
        weights = self.mass[index] * (self.loss_factor(i) / len(index))
        return softmax.SoftmaxBatch(self, self.A[index][None], self.y[index][None], weights[None])

    @functools.cached_property
    def _all_data(self) -> softmax.SoftmaxBatch:
        return softmax.SoftmaxBatch(
            self, self.A[None], self.y[None], None if self.mass is None else self.mass[None] / self.samples
        )

    def value(self, x: np.ndarray) -> float:
        return super().value(x) if self.mass is None else self.value_and_gradient(x)[0]

    def hessian_product(self, x: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        if self.mass is None:
            return super().hessian_product(x)
        p, mass = softmax.probabilities(self.scores(self.A, x))[0], self.mass[:, None]

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
        clients = range(self.partition.clients)
        return max(self.loss_factor(i) * self._curvature(self.partition.client(i)) for i in clients) + self.l2

    def _curvature(self, index: Any) -> float:
        """Return the largest curvature of the weighted mean loss of some rows."""
        A = self.A[index]
        if self.mass is None:
            return self.curvature(A)
        A = np.insert(A, A.shape[1], 1, axis=1) if self.bias else A
        A = A * np.sqrt(self.mass[index])[:, None]
        gram = A @ A.T if A.shape[1] > A.shape[0] else A.T @ A
        return float(np.linalg.eigvalsh(gram.astype(np.float64))[-1] / (2 * A.shape[0]))

    def evaluate(self, x: np.ndarray) -> dict[str, float]:
        metrics = super().evaluate(x)
        if self.mass is None:
            return metrics
        metrics["loss"] = self.value(x)
        metrics["accuracy"] = float(np.average(self.scores(self.A, x).argmax(axis=1) == self.y, weights=self.mass))
        if self.optimum is not None:
            metrics["suboptimality"] = metrics["loss"] - self.optimum.F
        return metrics

    def solve(self) -> Optimum:
        if self.mass is None or self.dtype == np.float64:
            return super().solve()
        return Softmax(self.A, self.y, self.classes, self.l2, bias=self.bias, sample_weight=self.mass).solve()
