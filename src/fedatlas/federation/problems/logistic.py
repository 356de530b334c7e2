"""l2-regularised logistic regression (FedAc, Section 5).

f_i(x) = mean_j log(1 + exp(-b_j <a_j, x>)) + l2/2 |x|^2 over the rows j of client i, and F = mean_i f_i.
"""

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.special import expit

from fedatlas.errors import UserError
from fedatlas.federation import arrays, compiled
from fedatlas.federation.problems.base import VALIDATION, Batch
from fedatlas.federation.problems.regression import (
    START_SCALE_DOC,
    ClientBatches,
    Penalty,
    Regression,
    RegressionKind,
    evaluation_data,
)
from fedatlas.registry.options import option

if TYPE_CHECKING:
    from fedatlas.data.dataset import Contents, Dataset
    from fedatlas.federation.partitions.partition import Partition

BLOCK_BYTES = 1 << 25  # of rows that are made float64 at a time
DENSE_BYTES = 1 << 30  # sparse data up to this size are also kept dense, whose rows are gathered faster


@dataclass(frozen=True, kw_only=True)
class LogisticRegression(RegressionKind):
    """l2-regularised logistic regression on data of two classes, dense or sparse, without bias."""

    name = "logistic"
    reports = ("loss", "accuracy", "suboptimality", "test_accuracy", *VALIDATION)

    start_scale: float = option(1.0, doc=START_SCALE_DOC, low=0)

    def validate_data(self, train: "Contents | Dataset") -> None:
        if train.classes != 2:
            raise UserError(f"logistic regression needs two classes, the data have {train.classes}: use softmax")

    def build(self, train: "Dataset", test: "Dataset | None", partition: "Partition | None") -> "Logistic":
        """The problem on prepared data. Data in float32 stay so: large ones may not fit twice."""
        dtype = np.float32 if train.X.dtype == np.float32 else np.float64
        parts = evaluation_data(train, test, dtype)
        return Logistic(train.features(dtype=dtype), train.y, partition=partition, **parts, **vars(self))


class Logistic(Regression):
    """Logistic regression on dense or CSR data.

    Args:
        A: Features (n, d).
        b: Labels (n,) in {0, 1}.
        l2: Weight of |x|^2 / 2, or ``"1/n"``.
        partition: Rows of each client, or None if every client draws from all rows.
        test: Features and labels of test rows, or None.
        validation: Features and labels of validation rows, or None.
        **options: Other options of `LogisticRegression`.

    Raises:
        UserError: There are other labels.
    """

    def __init__(
        self,
        A: Any,
        b: np.ndarray,
        l2: Penalty = 0.0,
        partition: "Partition | None" = None,
        test: tuple[Any, np.ndarray] | None = None,
        validation: tuple[Any, np.ndarray] | None = None,
        **options: Any,
    ) -> None:
        kind = LogisticRegression(l2=l2, **options)
        labels = np.unique(b)
        if not np.isin(labels, (0, 1)).all():
            raise UserError(f"logistic regression needs two classes, the data have {len(labels)}: use softmax")
        self.dtype = np.result_type(A.dtype, np.float32)
        self.A, self.b = A.astype(self.dtype, copy=False), np.where(np.asarray(b) == 1, 1, -1).astype(self.dtype)
        self.samples, self.dim = A.shape
        self.partition, self.start_scale = partition, kind.start_scale
        self.test, self.validation = test, validation
        self.l2 = self.penalty(kind.l2)
        self.weights = kind.weights

    @property
    def labels(self) -> np.ndarray:
        """Labels (n,) in {0, 1}."""
        return (self.b > 0).astype(int)

    @functools.cached_property
    def _dense(self) -> np.ndarray | None:
        """Features as a dense array if they are dense or small enough, else None."""
        if not sparse.issparse(self.A):
            return self.A
        return self.A.toarray() if self.samples * self.dim * self.dtype.itemsize <= DENSE_BYTES else None

    def _rows(self, index: np.ndarray) -> np.ndarray:
        """Return features by an index of any shape: (*index.shape, d)."""
        if self._dense is not None:
            return self._dense[index]
        return self.A[index.ravel()].toarray().reshape(*index.shape, self.dim)

    def batch(self, clients: np.ndarray, index: np.ndarray) -> Batch:
        if index.shape[1] > self.gather_limit:
            counts, size = (np.bincount(draws, minlength=self.samples) for draws in index), index.shape[1]
            weights = (count * self.loss_factor(i) / size for count, i in zip(counts, clients, strict=True))
            return ClientBatches([WeightedBatch(self.A, self.b, w, size, self.l2, self._all_rows) for w in weights])
        if index.shape[1] == 1:
            return OneSampleBatch(self._rows(index[:, 0]), self.b[index], self.l2, self.loss_factors(clients))
        return LogisticBatch(self._rows(index), self.b[index], self.l2, self.loss_factors(clients))

    def full_batch(self, clients: np.ndarray) -> Batch:
        if self.partition is None:
            weights = np.full(self.samples, 1 / self.samples)
            batch = WeightedBatch(self.A, self.b, weights, self.samples, self.l2, self._all_rows)
            return ClientBatches([batch] * len(clients), shared=True)
        return ClientBatches([self._client_batch(int(i)) for i in clients])

    @functools.lru_cache(maxsize=512)  # noqa: B019  a problem lives as long as its job
    def _client_batch(self, i: int) -> "WeightedBatch":
        """Return all data of client i."""
        assert self.partition is not None  # without one, all clients share ``full_batch``
        index = self.partition.client(i)
        weights = np.full(len(index), self.loss_factor(i) / len(index))
        A = self.A[index]
        return WeightedBatch(A, self.b[index], weights, len(index), self.l2, _compiled_rows(A))

    @functools.cached_property
    def _all_rows(self) -> Any:
        return _compiled_rows(self.A)

    def kernel(self, simulations: Sequence[Any]) -> Any:
        """Return what advances simulations on compiled rounds, or None; see `fedatlas.federation.compiled`."""
        return compiled.rounds(simulations)

    @functools.cached_property
    def one_sample_rows(self) -> tuple[np.ndarray, ...] | None:
        """Rows (indptr, indices, values, labels) for compiled rounds, or None if the clients have different rows.

        Dense data have values and labels, and two empty arrays. See `csr_rows`.
        """
        if not self.shared:
            return None
        if sparse.issparse(self.A):
            return csr_rows(self.A, self.b > 0)
        return np.zeros(0, np.int32), np.zeros(0, np.uint8), np.ravel(self.A), self.b.astype(np.int8)

    def _parts(self) -> Iterator[tuple[Any, np.ndarray, Any]]:
        """Yield features, labels and weights in float64, block by block; a weight of 1 stands for all."""
        at, weights = 0, self.row_weights
        for A in _blocks(self.A):
            part = slice(at, at + A.shape[0])
            yield A, self.b[part].astype(np.float64, copy=False), 1 if weights is None else weights[part]
            at += A.shape[0]

    def value(self, x: np.ndarray) -> float:
        total = sum((w * np.logaddexp(0, -b * (A @ x))).sum() for A, b, w in self._parts())
        return float(total / self.samples + self.l2 / 2 * (x @ x))

    def gradient(self, x: np.ndarray) -> np.ndarray:
        return sum(A.T @ (-w * b * expit(-b * (A @ x))) for A, b, w in self._parts()) / self.samples + self.l2 * x

    def hessian_product(self, x: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        curvatures = [w * (p := expit(A @ x)) * (1 - p) for A, _, w in self._parts()]

        def product(v: np.ndarray) -> np.ndarray:
            total = sum(A.T @ (w * (A @ v)) for (A, _, _), w in zip(self._parts(), curvatures, strict=True))
            return total / self.samples + self.l2 * v

        return product

    def curvature(self, A: Any, weights: np.ndarray | None = None) -> float:
        """Return lambda_max(A' diag(w) A) / (4 n) of rows (n, d) and their weights w."""
        gram = _gram(A, weights)
        gram = gram.toarray() if sparse.issparse(gram) else gram
        return float(np.linalg.eigvalsh(gram)[-1] / (4 * A.shape[0]))

    def row_scores(self, x: np.ndarray, part: str, rows: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        A, positive = self._part(part)
        if rows is not None:
            A, positive = A[rows], positive[rows]
        z = (A @ x.astype(self.dtype, copy=False)).astype(np.float64)
        penalty = self.l2 / 2 * float(x @ x) if part == "train" else 0.0
        return np.logaddexp(0, np.where(positive, -z, z)) + penalty, (z > 0) == positive

    def _part(self, part: str) -> tuple[Any, np.ndarray]:
        """Return the features (n, d) of a part of the data, and whether its labels are positive, (n,)."""
        if part == "train":
            return self.A, self.b > 0
        data = {"test": self.test, "validation": self.validation}[part]
        assert data is not None  # a setting names metrics of the problem's parts alone
        return data[0], np.asarray(data[1]) == 1

    def evaluate(self, x: np.ndarray) -> dict[str, float]:
        return self.evaluate_all([x])[0]

    def evaluate_all(self, points: Sequence[np.ndarray]) -> list[dict[str, float]]:
        losses, accuracies = self._mean_scores("train", points)
        metrics = {"loss": losses + np.array([self.l2 / 2 * (x @ x) for x in points]), "accuracy": accuracies}
        if self.optimum is not None:
            metrics["suboptimality"] = metrics["loss"] - self.optimum.F
        if self.test is not None:
            metrics["test_accuracy"] = self._mean_scores("test", points)[1]
        if self.validation is not None:
            metrics["validation_loss"], metrics["validation_accuracy"] = self._mean_scores("validation", points)
        return [dict(zip(metrics, map(float, values), strict=True)) for values in zip(*metrics.values(), strict=True)]

    def _mean_scores(self, part: str, points: Sequence[np.ndarray]) -> Any:
        """Return the mean losses of a part of the data, without l2 term, and its accuracies at k points: (k,) each."""
        sparse_rows = self._sparse_rows(part)
        if sparse_rows is not None:
            return compiled.mean_scores(*sparse_rows, points)
        A, positive = self._part(part)
        losses, rows = (self.mean_loss, self.client_rows) if part == "train" else (np.mean, slice(None))
        means = []
        for x in points:
            z = (A @ x.astype(self.dtype, copy=False)).astype(np.float64)
            right = (z > 0) == positive
            means.append((losses(np.logaddexp(0, np.where(positive, -z, z))), np.mean(right[rows])))
        return np.array(means).T

    @functools.lru_cache(maxsize=3)  # noqa: B019  as above
    def _sparse_rows(self, part: str) -> tuple[tuple[np.ndarray, ...], np.ndarray] | None:
        """Return the rows of a part and the weights of their losses (n,) or (0,) for 1; None unless sparse doubles."""
        A, positive = self._part(part)
        if not sparse.issparse(A) or A.dtype != np.float64:
            return None
        weights = self.row_weights if part == "train" else None
        return csr_rows(A, positive), np.zeros(0) if weights is None else weights


def csr_rows(A: Any, positive: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return arrays indptr, indices, values and labels of CSR features A (n, d) with classes (n,), for compiled code.

    There are no values if all are 1. Types are the smallest that fit, since rows are read at random.
    """
    A = A.tocsr()
    indices = A.indices.astype(np.min_scalar_type(A.shape[1] - 1))
    labels = np.where(positive, 1, -1).astype(np.int8)
    return A.indptr, indices, A.data[: 0 if (A.data == 1).all() else None], labels


def _compiled_rows(A: Any) -> Any:
    """Return features for compiled gradients, or None unless they are sparse doubles."""
    return compiled.sparse_rows(A) if sparse.issparse(A) and A.dtype == np.float64 else None


def _gram(A: Any, weights: np.ndarray | None) -> Any:
    """Return A' diag(w) A, or W A A' W with W = diag(w)^(1/2), whichever is smaller; None stands for weights of 1."""
    if A.shape[1] > A.shape[0]:
        A = A if weights is None else _scaled(A, np.sqrt(weights))
        return A @ A.T
    total, at = 0, 0
    for B in _blocks(A):
        total = total + B.T @ (B if weights is None else _scaled(B, weights[at : at + B.shape[0]]))
        at += B.shape[0]
    return total


def _scaled(A: Any, factors: np.ndarray) -> Any:
    """Return rows (n, d), each multiplied by its factor."""
    return A.multiply(factors[:, None]).tocsr() if sparse.issparse(A) else A * factors[:, None]


def _blocks(A: Any) -> Iterator[Any]:
    """Yield features in float64, a block at a time if they are float32.

    Sums keep their digits, and memory holds no second copy of all features.
    """
    if sparse.issparse(A) or A.dtype == np.float64:
        yield A
        return
    size = max(1, BLOCK_BYTES // (8 * A.shape[1]))
    for at in range(0, len(A), size):
        yield A[at : at + size].astype(np.float64)


class OneSampleBatch:
    """One sample for each of m clients.

    Args:
        a: Features (m, d).
        b: Labels (m, 1) in {-1, 1}.
        l2: Weight of |y|^2 / 2.
        factor: Factors of the losses, (m, 1), or 1.
    """

    size = 1

    def __init__(self, a: np.ndarray, b: np.ndarray, l2: float, factor: Any = 1) -> None:
        self.a, self.b, self.l2, self.factor = a, b, l2, factor

    def _margin(self, y: np.ndarray) -> np.ndarray:
        return self.b * np.vecdot(self.a, y)[:, None]

    def grad(self, y: np.ndarray) -> np.ndarray:
        y = arrays.rows(y, len(self.a))
        return -self.factor * self.b * expit(-self._margin(y)) * self.a + self.l2 * y

    def value_and_grad(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        y = arrays.rows(y, len(self.a))
        norm2 = np.vecdot(y, y)[:, None]
        return self.factor * np.logaddexp(0, -self._margin(y)) + self.l2 / 2 * norm2, self.grad(y)


class LogisticBatch:
    """Minibatches of m clients.

    Args:
        a: Features (m, b, d).
        b: Labels (m, b) in {-1, 1}.
        l2: Weight of |y|^2 / 2.
        factor: Factors of the losses, (m, 1), or 1.
    """

    def __init__(self, a: np.ndarray, b: np.ndarray, l2: float, factor: Any = 1) -> None:
        self.a, self.b, self.l2, self.factor = a, b, l2, factor
        self.size = b.shape[1]

    def _margin(self, y: np.ndarray) -> np.ndarray:
        return self.b * np.matmul(self.a, y[:, :, None])[:, :, 0]

    def grad(self, y: np.ndarray) -> np.ndarray:
        y = arrays.rows(y, len(self.a))
        weight = -self.factor * self.b * expit(-self._margin(y)) / self.size
        return np.matmul(weight[:, None, :], self.a)[:, 0] + self.l2 * y

    def value_and_grad(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        y = arrays.rows(y, len(self.a))
        norm2 = np.vecdot(y, y)[:, None]
        losses = np.logaddexp(0, -self._margin(y)).mean(axis=1, keepdims=True)
        return self.factor * losses + self.l2 / 2 * norm2, self.grad(y)


class WeightedBatch:
    """Weighted rows of one client: sum_j w_j log(1 + exp(-b_j <a_j, y>)) + l2/2 |y|^2.

    Args:
        A: Features (n, d).
        b: Labels (n,) in {-1, 1}.
        weights: Weights w (n,).
        size: Number of samples that a gradient costs.
        l2: l2 weight.
        rows: The features for compiled gradients, from `compiled.sparse_rows`; None for products of NumPy or SciPy.
    """

    def __init__(self, A: Any, b: np.ndarray, weights: np.ndarray, size: int, l2: float, rows: Any = None) -> None:
        self.A, self.b, self.weights, self.size, self.l2 = A, b, weights.astype(b.dtype), size, l2
        self._losses = _Products(A, b, self.weights) if rows is None else rows.weigh(b, self.weights)

    def grad(self, y: np.ndarray) -> np.ndarray:
        y = np.ravel(y)
        return (self._losses.gradient(y) + self.l2 * y)[None]

    def hessian_product(self, y: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Return the product of the Hessian at y (d,) with v (d,), (1, d)."""
        p = expit(self.A @ y)
        return np.asarray(self.A.T @ (self.weights * p * (1 - p) * (self.A @ v)) + self.l2 * v)[None]

    def value_and_grad(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        y = np.ravel(y)
        loss, gradient = self._losses.loss_and_gradient(y)
        return np.array([[loss + self.l2 / 2 * (y @ y)]]), (gradient + self.l2 * y)[None]


class _Products:
    """Weighted logistic losses of rows by products of NumPy or SciPy."""

    def __init__(self, A: Any, b: np.ndarray, weights: np.ndarray) -> None:
        self.A, self.weights = A, weights
        self._transposed, self._signs, self._signed = A.T, -b, -weights * b  # once: they take as long as a gradient

    def gradient(self, y: np.ndarray) -> np.ndarray:
        """Return the gradient (d,) at y (d,)."""
        return self._gradient(self._signs * (self.A @ y))

    def loss_and_gradient(self, y: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the weighted sum of the losses and its gradient (d,) at y (d,)."""
        exponents = self._signs * (self.A @ y)
        return float(self.weights @ np.logaddexp(0, exponents)), self._gradient(exponents)

    def _gradient(self, exponents: np.ndarray) -> np.ndarray:
        return np.asarray(self._transposed @ (self._signed * expit(exponents)))
