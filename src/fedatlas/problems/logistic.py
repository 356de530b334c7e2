"""l2-regularised logistic regression, F(x) = mean_j log(1 + exp(-b_j <a_j, x>)) + l2/2 |x|^2 (FedAc, Section 5)."""

import functools

import numpy as np
from scipy import sparse
from scipy.special import expit

from fedatlas.errors import UserError
from fedatlas.problems.base import Each, Optimum, Regression
from fedatlas.simulation import arrays

BLOCK_BYTES = 1 << 25  # of rows that are made float64 at a time
DENSE_BYTES = 1 << 30  # sparse data up to this size are also kept dense, whose rows are gathered faster


class Logistic(Regression):
    """Logistic regression on dense or CSR data.

    A: (n, d) features. b: (n,) labels in {0, 1}. l2: weight of |x|^2 / 2. partition: rows of each client, or None.
    test: (A, b) or None. start_scale: x0 ~ N(0, start_scale^2), or 0.
    """

    def __init__(self, A, b, l2=0.0, partition=None, test=None, start_scale=1.0):
        labels = np.unique(b)
        if not np.isin(labels, (0, 1)).all():
            raise UserError(f"logistic regression needs two classes, the data have {len(labels)}: use softmax")
        self.dtype = np.result_type(A.dtype, np.float32)
        self.A, self.b = A.astype(self.dtype, copy=False), np.where(np.asarray(b) == 1, 1, -1).astype(self.dtype)
        self.l2, self.partition, self.test, self.start_scale = float(l2), partition, test, start_scale
        self.samples, self.dim = A.shape

    @classmethod
    def from_data(cls, data, test, partition, l2=0.0, start_scale=1.0):
        """From prepared Datasets. test: another Dataset; by default the test part of data, if it has one.

        Data in float32 stay so: large ones may not fit twice.
        """
        dtype = np.float32 if data.X.dtype == np.float32 else np.float64
        held_out = (test.features(dtype=dtype), test.y) if test is not None else None
        if held_out is None and data.X_test is not None:
            held_out = (data.features("test", dtype), data.y_test)
        return cls(data.features(dtype=dtype), data.y, l2, partition, held_out, start_scale)

    @functools.cached_property
    def _dense(self):
        if not sparse.issparse(self.A):
            return self.A
        return self.A.toarray() if self.samples * self.dim * self.dtype.itemsize <= DENSE_BYTES else None

    def _rows(self, index):
        """Rows of data by an index of any shape: (*index.shape, d)."""
        if self._dense is not None:
            return self._dense[index]
        return self.A[index.ravel()].toarray().reshape(*index.shape, self.dim)

    def batch(self, clients, index):
        if len(index) == 1 and index.shape[1] > self.samples // 8:
            weights = np.bincount(index[0], minlength=self.samples) / index.shape[1]
            return Weighted(self.A, self.b, weights, index.shape[1], self.l2)
        if index.shape[1] == 1:
            return OneSample(self._rows(index[:, 0]), self.b[index], self.l2)
        return Rows(self._rows(index), self.b[index], self.l2)

    def full_batch(self, clients):
        if self.partition is None:
            weights = np.full(self.samples, 1 / self.samples)
            return Each([Weighted(self.A, self.b, weights, self.samples, self.l2)] * len(clients), shared=True)
        return Each([self._own(int(i)) for i in clients])

    @functools.lru_cache(maxsize=512)  # noqa: B019  a problem lives as long as its job
    def _own(self, i):
        index = self.partition.client(i)
        return Weighted(self.A[index], self.b[index], np.full(len(index), 1 / len(index)), len(index), self.l2)

    @functools.cached_property
    def one_sample_rows(self):
        """Rows for kernels: CSR (indptr, indices, values), or values of dense rows behind two empty arrays; labels."""
        if not self.shared:
            return None
        if sparse.issparse(self.A):
            return self.A.indptr, self.A.indices, self.A.data, self.b
        nothing = np.zeros(0, np.int32)
        return nothing, nothing, np.ravel(self.A), self.b

    def _parts(self):
        """(rows, labels) in float64, a block at a time where the data are float32: sums keep their digits, and a second
        copy of the data is never held."""
        if sparse.issparse(self.A) or self.dtype == np.float64:
            yield self.A, self.b
            return
        size = max(1, BLOCK_BYTES // (8 * self.dim))
        for at in range(0, self.samples, size):
            yield self.A[at : at + size].astype(np.float64), self.b[at : at + size].astype(np.float64)

    def value(self, x):
        """F(x)."""
        total = sum(np.logaddexp(0, -b * (A @ x)).sum() for A, b in self._parts())
        return float(total / self.samples + self.l2 / 2 * (x @ x))

    def gradient(self, x):
        """Gradient of F at x: (d,)."""
        return sum(A.T @ (-b * expit(-b * (A @ x))) for A, b in self._parts()) / self.samples + self.l2 * x

    def hessian(self, x):
        """Hessian of F at x: (d, d)."""
        total = 0
        for A, _ in self._parts():
            p = expit(A @ x)
            weighted = A.multiply((p * (1 - p))[:, None]).tocsr() if sparse.issparse(A) else A * (p * (1 - p))[:, None]
            product = weighted.T @ A
            total = total + (product.toarray() if sparse.issparse(product) else product)
        return total / self.samples + self.l2 * np.eye(self.dim)

    @functools.cached_property
    def smoothness(self):
        """L = lambda_max(A'A) / (4 n) + l2."""
        if self.dim <= self.samples:
            gram = sum(A.T @ A for A, _ in self._parts())
        else:
            gram = self.A @ self.A.T
        gram = gram.toarray() if sparse.issparse(gram) else gram
        return float(np.linalg.eigvalsh(gram)[-1] / (4 * self.samples) + self.l2)

    def evaluate(self, x):
        z = (self.A @ x.astype(self.dtype, copy=False)).astype(np.float64)
        metrics = {"loss": float(np.logaddexp(0, -self.b * z).mean() + self.l2 / 2 * (x @ x))}
        metrics["accuracy"] = float(np.mean((z > 0) == (self.b > 0)))
        if self.optimum is not None:
            metrics["suboptimality"] = metrics["loss"] - self.optimum.F
        if self.test is not None:
            A, b = self.test
            metrics["test_accuracy"] = float(np.mean((A @ x > 0) == (np.asarray(b) == 1)))
        return metrics

    def solve(self):
        """Optimum by SciPy's trust-region Newton method. Its gap |grad|^2 / (2 l2) bounds F(x) - F*.

        Raises UserError if l2 is 0 (the minimum may not exist) or the gap stays above 1e-12.
        """
        from scipy.optimize import minimize

        if not self.solvable:
            raise UserError("the optimum of logistic regression is computed for l2 > 0 only")
        options = {"gtol": 1e-13, "maxiter": 500}
        found = minimize(
            self.value, np.zeros(self.dim), jac=self.gradient, hess=self.hessian, method="trust-exact", options=options
        )
        x = found.x
        for _ in range(20):  # Newton steps to the last digit, where the value no longer shows progress
            step = np.linalg.solve(self.hessian(x), self.gradient(x))
            if np.linalg.norm(self.gradient(x - step)) >= np.linalg.norm(self.gradient(x)):
                break
            x = x - step
        gap = float(self.gradient(x) @ self.gradient(x) / (2 * self.l2))
        if not gap <= 1e-12:
            raise UserError(f"the solver stopped at a gap of {gap:.1e}; 1e-12 was asked for")
        return Optimum(self.value(x), x, gap)


class OneSample:
    """One sample for each of m clients. a: (m, d), b: (m, 1)."""

    size = 1

    def __init__(self, a, b, l2):
        self.a, self.b, self.l2 = a, b, l2

    def _margin(self, y):
        return self.b * np.vecdot(self.a, y)[:, None]

    def grad(self, y):
        y = arrays.rows(y, len(self.a))
        return -self.b * expit(-self._margin(y)) * self.a + self.l2 * y

    def value_and_grad(self, y):
        y = arrays.rows(y, len(self.a))
        norm2 = np.vecdot(y, y)[:, None]
        return np.logaddexp(0, -self._margin(y)) + self.l2 / 2 * norm2, self.grad(y)


class Rows:
    """b samples for each of m clients. a: (m, b, d), b: (m, b)."""

    def __init__(self, a, b, l2):
        self.a, self.b, self.l2 = a, b, l2
        self.size = b.shape[1]

    def _margin(self, y):
        return self.b * np.matmul(self.a, y[:, :, None])[:, :, 0]

    def grad(self, y):
        y = arrays.rows(y, len(self.a))
        weight = -self.b * expit(-self._margin(y)) / self.size
        return np.matmul(weight[:, None, :], self.a)[:, 0] + self.l2 * y

    def value_and_grad(self, y):
        y = arrays.rows(y, len(self.a))
        norm2 = np.vecdot(y, y)[:, None]
        value = np.logaddexp(0, -self._margin(y)).mean(axis=1, keepdims=True) + self.l2 / 2 * norm2
        return value, self.grad(y)


class Weighted:
    """One client with weighted rows: sum_j w_j log(1 + exp(-b_j <a_j, y>)) + l2/2 |y|^2, weights summing to 1."""

    def __init__(self, A, b, weights, size, l2):
        self.A, self.b, self.weights, self.size, self.l2 = A, b, weights.astype(b.dtype), size, l2

    def value(self, y):
        y = np.ravel(y)
        return float(self.weights @ np.logaddexp(0, -self.b * (self.A @ y)) + self.l2 / 2 * (y @ y))

    def grad(self, y):
        y = np.ravel(y)
        weight = -self.weights * self.b * expit(-self.b * (self.A @ y))
        return (self.A.T @ weight + self.l2 * y)[None]

    def value_and_grad(self, y):
        return np.array([[self.value(y)]]), self.grad(y)
