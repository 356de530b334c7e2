"""l2-regularised multinomial logistic regression (FedSPS, Section 6):
F(x) = mean_j (logsumexp(z_j) - z_j[y_j]) + l2/2 |x|^2 with scores z_j = W a_j + c."""

import functools

import numpy as np
from scipy import sparse

from fedatlas import arrays
from fedatlas.errors import UserError
from fedatlas.problems.base import Each, Regression
from fedatlas.streams import stream

DTYPES = ("float64", "float32")


class Softmax(Regression):
    """Multinomial logistic regression on dense data.

    A: (n, p) features. y: (n,) labels in 0..classes-1. x is the flat (d,) vector of the weights (classes, p), row by
    row, and then the biases (classes,), in the order of a torch ``Linear``; l2 weighs all of |x|^2 / 2, biases
    included, so F is strongly convex. bias: whether there are biases. partition: rows of each client, or None.
    test: (A, y) or None. dtype: of data and x. start_scale: x0 ~ N(0, start_scale^2), or 0. eval_samples: the training
    rows that are evaluated, a subset that is the same in all runs; all of them by default, and where F* is known.
    weights: of ``Regression``.
    """

    def __init__(
        self,
        A,
        y,
        classes,
        l2=0.0,
        partition=None,
        test=None,
        bias=True,
        dtype="float64",
        start_scale=0.0,
        weights="equal",
        eval_samples="all",
    ):
        if dtype not in DTYPES:
            raise UserError(f"softmax: dtype is {dtype!r}; it must be one of {', '.join(DTYPES)}")
        self.A, self.y, self.classes = _dense(A, dtype), np.asarray(y), int(classes)
        self.labels = self.y
        self.partition, self.bias, self.start_scale = partition, bool(bias), start_scale
        self.test = (_dense(test[0], dtype), np.asarray(test[1])) if test is not None else None
        self.dtype = np.dtype(dtype)
        self.samples, self.features = self.A.shape
        self.l2 = self.penalty(l2)
        self.weigh(weights)
        self.dim = self.classes * (self.features + self.bias)
        self._evaluated = None
        if eval_samples != "all" and eval_samples < self.samples:
            rows = np.sort(stream(0, "evaluation").choice(self.samples, eval_samples, replace=False))
            self._evaluated = self.A[rows], self.y[rows]

    @classmethod
    def from_data(
        cls,
        data,
        test,
        partition,
        l2=0.0,
        bias=True,
        dtype="float64",
        start_scale=0.0,
        weights="equal",
        eval_samples="all",
    ):
        """From prepared Datasets. test: another Dataset; by default the test part of data, if it has one."""
        held_out = (test.features(dtype=dtype), test.y) if test is not None else None
        if held_out is None and data.X_test is not None:
            held_out = (data.features("test", dtype), data.y_test)
        options = (l2, partition, held_out, bias, dtype, start_scale, weights, eval_samples)
        return cls(data.features(dtype=dtype), data.y, data.classes, *options)

    @property
    def block_rows(self):
        return arrays.block_rows(self.dim, self.dtype.itemsize)

    def batch(self, clients, index):
        if index.shape[1] > self.samples // 8:  # for every client alike, or blocks would change bits
            counts, size = (np.bincount(own, minlength=self.samples) for own in index), index.shape[1]
            weights = (own * self.share(i) / size for own, i in zip(counts, clients, strict=True))
            return Each([Rows(self, self.A[None], self.y[None], own[None], size) for own in weights])
        return Rows(self, self.A[index], self.y[index], self._weights(clients, index.shape))

    def _weights(self, clients, shape):
        """Weights of samples (m, b), or None for plain means."""
        return None if self._shares is None else np.broadcast_to(self.shares(clients) / shape[1], shape)

    def full_batch(self, clients):
        if self.partition is None:
            return Each([self._everything] * len(clients), shared=True)
        return Each([self._own(int(i)) for i in clients])

    @functools.lru_cache(maxsize=512)  # noqa: B019  a problem lives as long as its job
    def _own(self, i):
        index = self.partition.client(i)
        return Rows(self, self.A[index][None], self.y[index][None], self._weights([i], (1, len(index))))

    @functools.cached_property
    def _everything(self):
        return Rows(self, self.A[None], self.y[None])

    def split(self, x):
        """Flat vectors (..., d) as views: weights (..., classes, p) and biases (..., classes) or None."""
        cut = self.classes * self.features
        weights = x[..., :cut].reshape(*x.shape[:-1], self.classes, self.features)
        return weights, (x[..., cut:] if self.bias else None)

    def scores(self, A, x):
        """z = A W' + c: (n, classes)."""
        W, c = self.split(x)
        return A @ W.T if c is None else A @ W.T + c

    def value(self, x):
        """F(x)."""
        return self._loss(self.scores(self.A, x), self.y) + self._penalty(x)

    def gradient(self, x):
        """Gradient of F at x: (d,)."""
        return self._everything.grad(x)[0]

    def value_and_gradient(self, x):
        value, gradient = self._everything.value_and_grad(x)
        return value[0, 0], gradient[0]

    def hessian_product(self, x):
        """The map v -> (Hessian of F at x) v, both (d,)."""
        p = _softmax(self.scores(self.A, x))[0]

        def product(v):
            q = p * self.scores(self.A, v)
            q -= p * q.sum(axis=1, keepdims=True)
            out = np.empty_like(v)
            W, c = self.split(out)
            np.matmul(q.T, self.A, out=W)
            if c is not None:
                q.sum(axis=0, out=c)
            return out / self.samples + self.l2 * v

        return product

    def _penalty(self, x):
        return self.l2 / 2 * float(x @ x)

    @staticmethod
    def _loss(z, y):
        return float(np.mean(_softmax(z)[1] - z[np.arange(len(y)), y], dtype=np.float64))

    @functools.cached_property
    def smoothness(self):
        """L = lambda_max(A'A) / (2 n) + l2, A with a column of ones for the bias."""
        return self.curvature(self.A) + self.l2

    def curvature(self, A):
        """Largest curvature of the mean loss of rows A (n, p): lambda_max(A'A) / (2 n), as diag(p) - pp' <= 1/2."""
        wide = A.shape[1] + self.bias > A.shape[0]
        gram = A @ A.T if wide else A.T @ A
        if self.bias and wide:
            gram = gram + 1
        elif self.bias:
            sums = A.sum(axis=0)[:, None]
            gram = np.block([[gram, sums], [sums.T, np.array([[A.shape[0]]])]])
        return float(np.linalg.eigvalsh(gram.astype(np.float64))[-1] / (2 * A.shape[0]))

    def evaluate(self, x):
        A, y = (self.A, self.y) if self._evaluated is None or self.optimum is not None else self._evaluated
        z = self.scores(A, x)
        metrics = {"loss": self._loss(z, y) + self._penalty(x)}
        metrics["accuracy"] = float(np.mean(z.argmax(axis=1) == y))
        if self.optimum is not None:
            metrics["suboptimality"] = metrics["loss"] - self.optimum.F
        if self.test is not None:
            z = self.scores(self.test[0], x)
            metrics["test_loss"] = self._loss(z, self.test[1])
            metrics["test_accuracy"] = float(np.mean(z.argmax(axis=1) == self.test[1]))
        return metrics

    def solve(self):
        if self.dtype != np.float64:
            return Softmax(self.A, self.y, self.classes, self.l2, bias=self.bias).solve()
        return super().solve()


class Rows:
    """b samples for each of m clients. a: (m, b, p), y: (m, b), weights: (m, b) of the samples' losses, or None for
    plain means. size: the samples they stand for, b by default. Scores are (m, classes, b): sums over classes are
    then fast."""

    def __init__(self, problem, a, y, weights=None, size=None):
        self.problem, self.a, self.size = problem, a, size or y.shape[1]
        m, b = y.shape
        # where, in scores laid out flat, those of the samples' own classes are
        self._own = (np.arange(m)[:, None] * problem.classes + y) * b + np.arange(b)
        self._weights = 1 / b if weights is None else weights[:, None].astype(a.dtype)

    def _scores(self, y):
        W, c = self.problem.split(y)
        z = np.matmul(W, self.a.swapaxes(1, 2))
        if c is not None:
            z += c[..., None]
        return z

    def _grad(self, y, p):
        p.ravel()[self._own] -= 1
        p *= self._weights
        g = np.empty((len(self.a), self.problem.dim), self.a.dtype)
        W, c = self.problem.split(g)
        np.matmul(p, self.a, out=W)
        if c is not None:
            p.sum(axis=2, out=c)
        if self.problem.l2:
            g += self.problem.l2 * y
        return g

    def grad(self, y):
        y = arrays.rows(y, len(self.a))
        return self._grad(y, _softmax(self._scores(y), axis=1)[0])

    def value_and_grad(self, y):
        y = arrays.rows(y, len(self.a))
        z = self._scores(y)
        p, top = _softmax(z, axis=1)
        losses = (top - z.ravel()[self._own])[:, None] * self._weights
        value = losses.sum(axis=2)
        if self.problem.l2:
            value = value + self.problem.l2 / 2 * np.vecdot(y, y)[:, None]
        return value, self._grad(y, p)


def _softmax(z, axis=-1):
    """Softmax of scores over the classes on an axis, and their logsumexp, without that axis."""
    largest = z.max(axis=axis, keepdims=True)
    p = np.exp(z - largest)
    total = p.sum(axis=axis, keepdims=True)
    p /= total
    return p, np.squeeze(np.log(total) + largest, axis)


def _dense(A, dtype):
    A = A.toarray() if sparse.issparse(A) else np.asarray(A)
    return np.ascontiguousarray(A, dtype)
