"""l2-regularised multinomial logistic regression (FedSPS, Section 6).

f_i(x) = mean_j (logsumexp(z_j) - z_j[y_j]) + l2/2 |x|^2 over the rows j of client i, with scores z_j = W a_j + c, and
F = mean_i f_i.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy import sparse

from fedatlas.federation import arrays, compiled
from fedatlas.federation.problems.base import VALIDATION, Batch, Optimum, evaluation_rows
from fedatlas.federation.problems.regression import (
    L2_DOC,
    START_SCALE_DOC,
    ClientBatches,
    Penalty,
    Regression,
    RegressionKind,
    evaluation_data,
)
from fedatlas.registry.options import option

if TYPE_CHECKING:
    from fedatlas.data.dataset import Dataset
    from fedatlas.federation.partitions.partition import Partition

COMPILED = 2048  # weights from which gradients are compiled
GATHER_BYTES = 1 << 20  # rows of a minibatch that are gathered in less time than a product with all rows takes


@dataclass(frozen=True, kw_only=True)
class SoftmaxRegression(RegressionKind):
    """l2-regularised multinomial logistic regression (softmax regression) on data of any number of classes."""

    name = "softmax"
    reports = ("loss", "accuracy", "suboptimality", "test_loss", "test_accuracy", *VALIDATION)

    l2: Penalty = option(0.0, doc=L2_DOC + "; biases count, so that F is strongly convex", low=0)
    bias: bool = option(True, doc="whether scores have a bias")
    dtype: Literal["float64", "float32"] = option("float64", doc="type of data and x")
    start_scale: float = option(0.0, doc=START_SCALE_DOC, low=0)
    eval_samples: int | Literal["all"] = option(
        "all", doc="training rows that are evaluated, the same in all runs; all of them where F* is known", low=1
    )

    def build(self, train: "Dataset", test: "Dataset | None", partition: "Partition | None") -> "Softmax":
        parts = evaluation_data(train, test, self.dtype)
        features = train.features(dtype=self.dtype)
        pixels = (train.X.reshape(features.shape), train.scale) if train.X.dtype == np.uint8 else None
        return Softmax(features, train.y, train.classes, partition=partition, pixels=pixels, **parts, **vars(self))


class Softmax(Regression):
    """Multinomial logistic regression on dense data.

    x is the flat (d,) vector of the weights (classes, p), row by row, and then the biases (classes,), in the order of a
    torch ``Linear``.

    Args:
        A: Features (n, p).
        y: Labels (n,) in 0..classes-1.
        classes: Number of classes.
        l2: Weight of |x|^2 / 2, or ``"1/n"``.
        partition: Rows of each client, or None if every client draws from all rows.
        test: Features and labels of test rows, or None.
        validation: Features and labels of validation rows, or None.
        pixels: The features as bytes (n, p), with the scale by which these were divided, or None if they are not bytes.
        **options: Other options of `SoftmaxRegression`.
    """

    def __init__(
        self,
        A: Any,
        y: np.ndarray,
        classes: int,
        l2: Penalty = 0.0,
        partition: "Partition | None" = None,
        test: tuple[Any, np.ndarray] | None = None,
        validation: tuple[Any, np.ndarray] | None = None,
        *,
        pixels: tuple[np.ndarray, float] | None = None,
        **options: Any,
    ) -> None:
        kind = SoftmaxRegression(l2=l2, **options)
        self.dtype, self.bias, self.start_scale = np.dtype(kind.dtype), kind.bias, kind.start_scale
        self.A, self.y, self.classes = _dense(A, self.dtype), np.asarray(y), int(classes)
        self.labels, self.partition = self.y, partition
        self.evaluation_data = {
            name: (_dense(part[0], self.dtype), np.asarray(part[1]))
            for name, part in {"test": test, "validation": validation}.items()
            if part is not None
        }
        self.samples, self.features = self.A.shape
        self.l2 = self.penalty(kind.l2)
        self.weights, self.eval_samples = kind.weights, kind.eval_samples
        self.dim = self.classes * (self.features + self.bias)
        self.compiled = self.classes * self.features >= COMPILED
        # a copy in memory, since bytes of a file that is mapped lie on more pages of memory than a processor knows
        self.pixels = np.array(pixels[0]) if pixels and self.compiled else None
        self.scale = 1 / pixels[1] if pixels else 1.0

    @property
    def block_rows(self) -> int:
        return arrays.block_rows(self.dim, self.dtype.itemsize)

    def batch(self, clients: np.ndarray, index: np.ndarray) -> Batch:
        if index.shape[1] > self.gather_limit:
            counts, size = (np.bincount(draws, minlength=self.samples) for draws in index), index.shape[1]
            weights = (count * self.loss_factor(i) / size for count, i in zip(counts, clients, strict=True))
            return ClientBatches([SoftmaxBatch(self, self.A[None], self.y[None], w[None], size) for w in weights])
        return self._of_rows(clients, index)

    def _of_rows(self, clients: Any, index: np.ndarray) -> "SoftmaxBatch | CompiledBatch":
        """Return minibatches of clients by an index (m, b) of rows, which are read where they lie or gathered."""
        weights = self._weights(clients, index)
        if self.compiled:
            return CompiledBatch(self, index, weights)
        return SoftmaxBatch(self, self.A[index], self.y[index], weights)

    @functools.cached_property
    def dense_rows(self) -> Any:
        """The training rows for compiled gradients."""
        A, scale = (self.A, 1.0) if self.pixels is None else (self.pixels, self.scale)
        return compiled.softmax_rows(A, self.y, self.dtype, scale, self.bias)

    @property
    def gather_limit(self) -> int:
        if self.compiled:  # rows are read where they lie, in less time than a product with all of them takes
            return 4 * self.samples
        return max(super().gather_limit, min(self.samples, GATHER_BYTES // (self.features * self.dtype.itemsize)))

    def _weights(self, clients: Any, index: np.ndarray) -> np.ndarray | None:
        """Return weights (m, b) of the samples of an index, or None for plain means."""
        if self._loss_factors is None:
            return None
        return np.broadcast_to(self.loss_factors(clients) / index.shape[1], index.shape)

    def full_batch(self, clients: np.ndarray) -> Batch:
        if self.partition is None:
            return ClientBatches([self._all_data] * len(clients), shared=True)
        return ClientBatches([self._client_batch(int(i)) for i in clients])

    @functools.lru_cache(maxsize=512)  # noqa: B019  a problem lives as long as its job
    def _client_batch(self, i: int) -> "SoftmaxBatch | CompiledBatch":
        """Return all data of client i."""
        assert self.partition is not None  # without one, all clients share ``full_batch``
        return self._of_rows([i], self.partition.client(i)[None])

    @functools.cached_property
    def _all_data(self) -> "SoftmaxBatch | CompiledBatch":
        weights = None if self.row_weights is None else self.row_weights[None] / self.samples
        if self.compiled:
            return CompiledBatch(self, np.arange(self.samples)[None], weights)
        return SoftmaxBatch(self, self.A[None], self.y[None], weights)

    def split(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """Return views of flat vectors (..., d): weights (..., classes, p), and biases (..., classes) or None."""
        cut = self.classes * self.features
        weights = x[..., :cut].reshape(*x.shape[:-1], self.classes, self.features)
        return weights, (x[..., cut:] if self.bias else None)

    def scores(self, A: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Return the scores z = A W' + c (n, classes) of features A (n, p) at x (d,)."""
        W, c = self.split(x)
        return A @ W.T if c is None else A @ W.T + c

    def value(self, x: np.ndarray) -> float:
        return self._loss(self.scores(self.A, x), self.y, self.row_weights) + self._penalty(x)

    def gradient(self, x: np.ndarray) -> np.ndarray:
        return self._all_data.grad(x)[0]

    def value_and_gradient(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = self._all_data.value_and_grad(x)
        return value[0, 0], gradient[0]

    def hessian_product(self, x: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        p, weights = probabilities(self.scores(self.A, x))[0], self.row_weights

        def product(v: np.ndarray) -> np.ndarray:
            q = p * self.scores(self.A, v)
            q -= p * q.sum(axis=1, keepdims=True)
            if weights is not None:
                q *= weights[:, None]
            out = np.empty_like(v)
            W, c = self.split(out)
            np.matmul(q.T, self.A, out=W)
            if c is not None:
                q.sum(axis=0, out=c)
            return out / self.samples + self.l2 * v

        return product

    def _penalty(self, x: np.ndarray) -> float:
        return self.l2 / 2 * float(x @ x)

    @staticmethod
    def _loss(z: np.ndarray, y: np.ndarray, weights: np.ndarray | None = None) -> float:
        losses = probabilities(z)[1] - z[np.arange(len(y)), y]
        return float(np.mean(losses, dtype=np.float64) if weights is None else weights @ losses / len(y))

    def curvature(self, A: np.ndarray, weights: np.ndarray | None = None) -> float:
        """Return lambda_max(A' diag(w) A) / (2 n), since diag(p) - pp' <= 1/2, of rows (n, p) and their weights w.

        A has a column of ones for the bias.
        """
        if weights is not None:
            A = np.insert(A, A.shape[1], 1, axis=1) if self.bias else A
            A = A * np.sqrt(weights)[:, None]
            gram = A @ A.T if A.shape[1] > A.shape[0] else A.T @ A
            return float(np.linalg.eigvalsh(gram.astype(np.float64))[-1] / (2 * A.shape[0]))
        wide = A.shape[1] + self.bias > A.shape[0]
        gram = A @ A.T if wide else A.T @ A
        if self.bias and wide:
            gram = gram + 1
        elif self.bias:
            sums = A.sum(axis=0)[:, None]
            gram = np.block([[gram, sums], [sums.T, np.array([[A.shape[0]]])]])
        return float(np.linalg.eigvalsh(gram.astype(np.float64))[-1] / (2 * A.shape[0]))

    @functools.lru_cache(maxsize=2)  # noqa: B019  as above
    def _evaluated(self, count: int | Literal["all"]) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Return features and labels of so many training rows, and their weights in F, of mean 1, or None for 1."""
        rows = evaluation_rows(self.samples, count, self.row_weights)
        if rows is None:
            return self.A, self.y, self.row_weights
        weights = None if self.row_weights is None else self.row_weights[rows] / self.row_weights[rows].mean()
        return self.A[rows], self.y[rows], weights

    def evaluate(self, x: np.ndarray) -> dict[str, float]:
        A, y, weights = self._evaluated(self.eval_samples if self.optimum is None else "all")
        z = self.scores(A, x)
        metrics = {"loss": self._loss(z, y, weights) + self._penalty(x)}
        metrics["accuracy"] = float(np.mean(z.argmax(axis=1) == y))
        if self.optimum is not None:
            metrics["suboptimality"] = metrics["loss"] - self.optimum.F
        for name, (A, y) in self.evaluation_data.items():
            z = self.scores(A, x)
            metrics[f"{name}_loss"] = self._loss(z, y)
            metrics[f"{name}_accuracy"] = float(np.mean(z.argmax(axis=1) == y))
        return metrics

    def row_scores(self, x: np.ndarray, part: str, rows: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        index = slice(None) if rows is None else rows
        A, y = (self.A, self.y) if part == "train" else self.evaluation_data[part]
        A, y = A[index], y[index]
        z = self.scores(A, x)
        losses = (probabilities(z)[1] - z[np.arange(len(y)), y]).astype(np.float64)
        return losses + (self._penalty(x) if part == "train" else 0.0), z.argmax(axis=1) == y

    def solve(self) -> Optimum:
        if self.dtype == np.float64:
            return super().solve()
        precise = Softmax(self.A, self.y, self.classes, self.l2, self.partition, bias=self.bias, weights=self.weights)
        return precise.solve()


class SoftmaxBatch:
    """Minibatches of m clients. Scores are (m, classes, b), so that sums over classes are fast.

    Args:
        problem: Problem of the samples.
        a: Features (m, b, p).
        y: Labels (m, b).
        weights: Weights of the samples' losses, (m, b), or None for plain means.
        size: Number of samples that they represent, b by default.
    """

    def __init__(
        self,
        problem: Softmax,
        a: np.ndarray,
        y: np.ndarray,
        weights: np.ndarray | None = None,
        size: int | None = None,
    ) -> None:
        self.problem, self.a, self.size = problem, a, size or y.shape[1]
        m, b = y.shape
        # positions, in flat scores, of the scores of the samples' labels
        self._labels = (np.arange(m)[:, None] * problem.classes + y) * b + np.arange(b)
        self._weights = 1 / b if weights is None else weights[:, None].astype(a.dtype)

    def _scores(self, y: np.ndarray) -> np.ndarray:
        W, c = self.problem.split(y)
        z = np.matmul(W, self.a.swapaxes(1, 2))
        if c is not None:
            z += c[..., None]
        return z

    def _grad(self, y: np.ndarray, p: np.ndarray) -> np.ndarray:
        p.ravel()[self._labels] -= 1
        return self._combined(y, p)

    def _combined(self, y: np.ndarray, p: np.ndarray) -> np.ndarray:
        """Return the sum of the rows with weights p (m, classes, b), which are changed, and the penalty's part at y."""
        p *= self._weights
        g = np.empty((len(self.a), self.problem.dim), self.a.dtype)
        W, c = self.problem.split(g)
        np.matmul(p, self.a, out=W)
        if c is not None:
            p.sum(axis=2, out=c)
        if self.problem.l2:
            g += self.problem.l2 * y
        return g

    def grad(self, y: np.ndarray) -> np.ndarray:
        y = arrays.rows(y, len(self.a))
        return self._grad(y, probabilities(self._scores(y), axis=1)[0])

    def hessian_product(self, y: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Return the products of the Hessians at y with v, (m, d) each, or (d,) for all clients."""
        y, v = (arrays.rows(vector, len(self.a)) for vector in (y, v))
        p = probabilities(self._scores(y), axis=1)[0]
        q = p * self._scores(v)
        return self._combined(v, q - p * q.sum(axis=1, keepdims=True))

    def value_and_grad(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        y = arrays.rows(y, len(self.a))
        z = self._scores(y)
        p, top = probabilities(z, axis=1)
        losses = (top - z.ravel()[self._labels])[:, None] * self._weights
        value = losses.sum(axis=2)
        if self.problem.l2:
            value = value + self.problem.l2 / 2 * np.vecdot(y, y)[:, None]
        return value, self._grad(y, p)


class CompiledBatch:
    """Minibatches of m clients by an index of rows, which compiled gradients read where they lie.

    Args:
        problem: Problem of the samples.
        index: Rows of each client, (m, b).
        weights: Weights of the samples' losses, (m, b), or None for plain means.
    """

    def __init__(self, problem: Softmax, index: np.ndarray, weights: np.ndarray | None) -> None:
        self.problem, self.index, self.weights, self.size = problem, index, weights, index.shape[1]

    def grad(self, y: np.ndarray) -> np.ndarray:
        return self.problem.dense_rows.gradients(self.index, self.weights, y, self.problem.l2)[0]

    def value_and_grad(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        problem = self.problem
        g, losses = problem.dense_rows.gradients(self.index, self.weights, y, problem.l2, with_losses=True)
        value = losses[:, None].astype(problem.dtype)
        if problem.l2:
            value = value + problem.l2 / 2 * np.vecdot(y, y)[..., None]
        return value, g

    def hessian_product(self, y: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Return the products of the Hessians at y with v, (m, d) each, or (d,) for all clients."""
        problem = self.problem
        return SoftmaxBatch(problem, problem.A[self.index], problem.y[self.index], self.weights).hessian_product(y, v)


def probabilities(z: np.ndarray, axis: int = -1) -> tuple[np.ndarray, np.ndarray]:
    """Return the softmax of scores over the classes on an axis, and their logsumexp without that axis."""
    largest = z.max(axis=axis, keepdims=True)
    p = np.exp(z - largest)
    total = p.sum(axis=axis, keepdims=True)
    p /= total
    return p, np.squeeze(np.log(total) + largest, axis)


def _dense(A: Any, dtype: np.dtype) -> np.ndarray:
    A = A.toarray() if sparse.issparse(A) else np.asarray(A)
    return np.ascontiguousarray(A, dtype)
