"""What a problem gives the engine: a start, minibatch oracles of clients, an evaluation of the global objective."""

from dataclasses import dataclass

import numpy as np

from fedatlas import arrays
from fedatlas.errors import UserError
from fedatlas.machine import free_host
from fedatlas.streams import stream


@dataclass(frozen=True)
class Optimum:
    """Minimum of a convex problem. F: F*; x: minimiser (d,); gap: a bound on F(x) - F* that was checked."""

    F: float
    x: object
    gap: float


class Problem:
    """Base of all problems.

    dim: parameters d. samples: rows of data. partition: which rows are whose, or None if every client draws from all.
    clients: their number if the problem fixes it, else None. optimum: an Optimum, or None if unknown. variants: ways in
    which a row may be seen (augmentation); a draw is ``row + samples * variant``, and variant 0 is the row as it is.
    """

    dim: int
    samples: int
    variants = 1
    partition = None
    clients = None
    optimum = None
    labels = None  # (n,) class of each row of data, from 0, where there are classes
    solvable = False  # whether solve() can find the optimum
    one_sample_rows = None  # (indptr, indices, values, labels) of logistic data that all clients share, for kernels

    @classmethod
    def provenance(cls, spec):
        """What a run file says of how a problem of this specification is computed here, besides versions of NumPy."""
        return {}

    @property
    def shared(self):
        """Whether all clients have the same objective and data, so that one can stand for all."""
        return self.partition is None and self.clients is None

    def start(self, seed):
        """First point x0 (d,)."""
        raise NotImplementedError

    def batch(self, clients, index):
        """Minibatch oracle of a block of m clients. index: (m, b) rows of data. Has ``size``, ``grad(y)`` and
        ``value_and_grad(y)``; y: (m, d) or (d,)."""
        raise NotImplementedError

    def full_batch(self, clients):
        """The same with all data of each client."""
        raise NotImplementedError

    @classmethod
    def has_prox(cls):
        """Whether this kind of problem has an exact proximal step."""
        return cls.prox is not Problem.prox

    def prox(self, v, weight, clients):
        """Exact ``argmin_y f_i(y) + weight/2 |y - v_i|^2``: (m, d)."""
        raise UserError(f"{type(self).__name__} has no exact proximal step: use an algorithm with gradient steps")

    def evaluate(self, x):
        """Metrics of the global objective at x: ``loss`` and whatever else the problem knows, as floats."""
        raise NotImplementedError

    def constants(self):
        """Constants that algorithms may take as defaults, such as ``mu``."""
        return {}

    def constant(self, name):
        """One of the constants, or None."""
        return self.constants().get(name)

    def solve(self):
        """Find the Optimum, where a library solver can."""
        raise UserError(f"{type(self).__name__} has no solver for its optimum")

    def kernel(self, simulations):
        """Optional: what advances simulations of this problem, one setting and one seed on compiled rounds; or None."""
        return None

    def prepare_threads(self, threads):
        """Called before any gradient by whoever will compute this many blocks at once."""

    def memory(self, batch, threads):
        """Bytes, roughly, of ``data`` and, where they count, ``activations`` of minibatches on so many threads."""
        return {"data": sum(getattr(value, "nbytes", 0) for value in vars(self).values())}

    def free_memory(self):
        """Bytes that are free where vectors live."""
        return free_host()

    @property
    def block_rows(self):
        """Clients that are computed together."""
        return arrays.block_rows(self.dim, 8)

    def label_shares(self, clients):
        """Share of each class in each client's data: (clients, classes). Raises UserError if there are no classes."""
        if self.labels is None:
            raise UserError("participation: p is 'labels', but the problem's data have no labels: give probabilities")
        classes = int(self.labels.max()) + 1
        if self.partition is None:
            counts = np.tile(np.bincount(self.labels, minlength=classes), (clients, 1))
        else:
            counts = self.partition.histogram(self.labels, classes)
        return counts / counts.sum(axis=1, keepdims=True)

    def check_clients(self, clients):
        fixed = self.partition.clients if self.partition is not None else self.clients
        if fixed is not None and fixed != clients:
            raise UserError(f"the problem is split over {fixed} clients, but the setting has {clients}")


WEIGHTS = ("equal", "size")
GAP = 1e-12  # what solve() must certify


class Regression(Problem):
    """l2-regularised regression in NumPy: has ``l2``, ``smoothness``, ``start_scale`` and ``dtype``, and of all data
    ``value``, ``gradient`` and ``hessian_product``.

    weights: ``equal``, client i's objective is the mean loss of its own samples; ``size``, that mean times n m_i / M,
    for n clients of which i has m_i of M samples, so that the plain mean over clients is the mean over all samples
    (FedRed, Section 5). The l2 term is the same for all.
    """

    _shares = None

    def penalty(self, l2):
        """The l2 weight from a number or ``1/n``, n being the number of samples. Raises UserError."""
        if isinstance(l2, str) and l2.replace(" ", "") == "1/n":
            return 1 / self.samples
        if isinstance(l2, str):
            raise UserError(f"l2 is {l2!r}; it must be a number or 1/n, one over the number of samples")
        return float(l2)

    def weigh(self, weights):
        """Choose the clients' weights."""
        if weights not in WEIGHTS:
            raise UserError(f"weights is {weights!r}; it must be one of {', '.join(WEIGHTS)}")
        if weights == "size" and self.partition is not None:
            sizes = self.partition.sizes
            self._shares = (len(sizes) / sizes.sum() * sizes)[:, None].astype(self.dtype)

    def shares(self, clients):
        """What the losses of clients are multiplied by: (m, 1), or 1 if that is 1 for all."""
        return 1 if self._shares is None else self._shares[clients]

    def client_smoothness(self):
        """Largest L of any client's objective."""
        if self.partition is None:
            return self.smoothness
        each = range(self.partition.clients)
        return max(self.share(i) * self.curvature(self.A[self.partition.client(i)]) for i in each) + self.l2

    def share(self, client):
        """The same of one client, as a number."""
        return 1.0 if self._shares is None else float(self._shares[client, 0])

    @property
    def solvable(self):
        return self.l2 > 0

    def value_and_gradient(self, x):
        """F(x), a number, and its gradient (d,)."""
        return self.value(x), self.gradient(x)

    def solve(self):
        """Optimum, in float64, by SciPy's L-BFGS and then Newton-CG steps. Its gap |grad|^2 / (2 l2) bounds F(x) - F*.

        Raises UserError if l2 is 0 (the minimum may not exist) or the gap stays above 1e-12.
        """
        from scipy.optimize import minimize

        if not self.solvable:
            raise UserError(f"the optimum of {type(self).__name__} is computed for l2 > 0 only")
        options = {"maxiter": 100, "gtol": 1e-4, "ftol": 0}
        x = minimize(self.value_and_gradient, np.zeros(self.dim), jac=True, method="L-BFGS-B", options=options).x
        while True:
            gradient = self.gradient(x)
            gap = float(gradient @ gradient / (2 * self.l2))
            better = self._newton(x, gradient) if gap > GAP * 1e-8 else None  # below, F has no digits left to gain
            if better is None:
                break
            x = better
        if not gap <= GAP:
            raise UserError(f"the solver stopped at a gap of {gap:.1e}; {GAP:.0e} was asked for")
        return Optimum(self.value(x), x, gap)

    def _newton(self, x, gradient):
        """A Newton-CG step, halved until the gradient is shorter; None if it never is."""
        from scipy.sparse.linalg import LinearOperator, cg

        hessian = LinearOperator((self.dim, self.dim), matvec=self.hessian_product(x), dtype=np.float64)
        step, _ = cg(hessian, gradient, rtol=1e-2, maxiter=2000)
        for _ in range(20):
            if np.linalg.norm(self.gradient(x - step)) < np.linalg.norm(gradient):
                return x - step
            step = step / 2
        return None

    def constants(self):
        return {"L": self.smoothness} | ({"mu": self.l2} if self.l2 > 0 else {})

    def constant(self, name):
        # L takes the spectrum of the data: not to be computed for whoever asks for mu
        return (self.l2 or None) if name == "mu" else super().constant(name)

    def start(self, seed):
        if not self.start_scale:
            return np.zeros(self.dim, self.dtype)
        return (self.start_scale * stream(seed, "start").standard_normal(self.dim)).astype(self.dtype)


class Each:
    """A block of m clients of which each has an oracle of its own; ``shared`` if all are the same."""

    def __init__(self, oracles, shared=False):
        self.oracles, self.shared = oracles, shared
        self.size = np.array([oracle.size for oracle in oracles])

    def grad(self, y):
        if self.shared and y.ndim == 1:
            return arrays.rows(self.oracles[0].grad(y)[0], len(self.oracles))
        return np.concatenate([o.grad(v) for o, v in zip(self.oracles, arrays.rows(y, len(self.oracles)), strict=True)])

    def value_and_grad(self, y):
        y = arrays.rows(y, len(self.oracles))
        pairs = [o.value_and_grad(v) for o, v in zip(self.oracles, y, strict=True)]
        return np.concatenate([v for v, _ in pairs]), np.concatenate([g for _, g in pairs])
