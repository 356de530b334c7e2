"""Quadratic client objectives f_i(x) = 1/2 <x, A_i x> - <b_i, x> + c_i, with noise on their gradients if asked for."""

import functools

import numpy as np

from fedatlas import arrays
from fedatlas.errors import UserError
from fedatlas.problems.base import Optimum, Problem
from fedatlas.streams import stream


class Quadratic(Problem):
    """The mean of m quadratics, one for each client.

    A: symmetric (m, d, d), or the diagonals of diagonal matrices (m, d). b: (m, d). c: (m,), 0 by default.
    noise: standard deviation of each coordinate of a one-sample gradient about the true one, whose losses stay exact
    (FedSPS, Example 1). samples, seed: the noise is a table of that many Gaussian vectors, drawn once from seed and
    moved to mean zero; they play the part of rows of data: a step's minibatch names rows, and every gradient
    of the step adds their mean. start_scale: x0 ~ N(0, start_scale^2), or 0.

    The optimum is known where the mean of the A_i is positive definite. Raises UserError on shapes that do not fit.
    """

    def __init__(self, A, b, c=None, noise=0.0, samples=1024, seed=0, start_scale=1.0):
        self.A, self.b = np.asarray(A, float), np.asarray(b, float)
        self.clients, self.dim = self.b.shape
        if self.A.shape not in ((self.clients, self.dim), (self.clients, self.dim, self.dim)):
            raise UserError(f"quadratic: A has shape {self.A.shape} and b {self.b.shape}; A needs one matrix a client")
        self.c = np.zeros(self.clients) if c is None else np.asarray(c, float)
        self.samples, self.start_scale = int(samples), start_scale
        self.noise = None
        if noise:
            table = stream(seed, "noise").standard_normal((self.samples, self.dim))
            self.noise = noise * (table - table.mean(axis=0))
        self._mean = (self.A.mean(axis=0), self.b.mean(axis=0), float(self.c.mean()))
        self.optimum = self.solve() if self.constants()["mu"] > 0 else None

    @classmethod
    def create(
        cls,
        clients,
        dim=None,
        centers=None,
        curvatures=None,
        mu=1.0,
        L=100.0,
        similarity=0.0,
        heterogeneity=0.0,
        diagonal=False,
        instance=0,
        noise=0.0,
        samples=1024,
        start_scale=1.0,
    ):
        """A synthetic instance, or f_i(x) = a_i |x - u_i|^2 / 2 with the given centers u_i (m, d) (FedAWE, Example 1)
        and curvatures a_i (m,), 1 by default (FedSPS, Example 1).

        mu, L: smallest and largest eigenvalue of the mean Hessian; the others lie evenly between them on a log scale.
        similarity: delta_B = max_i |A_i - mean_j A_j| in spectral norm, exactly (FedRed, Section 2); a client is convex
        for sure if delta_B <= mu. heterogeneity: distance of every client's own stationary point from a common point.
        diagonal: diagonal Hessians, which cost d instead of d^2. instance: seed of all that is random in it.
        noise, samples, start_scale: as for the constructor.
        """
        if (dim is None) == (centers is None):
            raise UserError("quadratic: give either dim, for a synthetic instance, or centers")
        if centers is not None:
            u = np.asarray(centers, float)
            if u.ndim != 2 or len(u) != clients:
                raise UserError(
                    f"quadratic: centers has shape {u.shape}; one list of numbers for each of {clients} is needed"
                )
            a = np.ones(clients) if curvatures is None else np.asarray(curvatures, float)
            if a.shape != (clients,):
                raise UserError(f"quadratic: curvatures has shape {a.shape}; one number a client, {clients}, is needed")
            A = np.repeat(a[:, None], u.shape[1], axis=1)
            return cls(A, A * u, 0.5 * a * np.vecdot(u, u), noise, samples, instance, start_scale)
        if curvatures is not None:
            raise UserError("quadratic: curvatures go with centers; a synthetic instance has mu and L")
        if not 0 < mu <= L:
            raise UserError(f"quadratic: mu is {mu} and L is {L}; 0 < mu <= L is needed")
        if similarity < 0 or heterogeneity < 0:
            raise UserError("quadratic: similarity and heterogeneity must be at least 0")
        if similarity and clients == 1:
            raise UserError("quadratic: one client cannot differ from the mean; leave similarity out")
        rng = stream(instance, "problem")
        spectrum = np.geomspace(mu, L, dim) if dim > 1 else np.array([float(mu)])
        shape = (clients, dim) if diagonal else (clients, dim, dim)
        deviation = rng.standard_normal(shape)
        if diagonal:
            mean = rng.permutation(spectrum)
        else:
            Q = np.linalg.qr(rng.standard_normal((dim, dim)))[0]
            mean = (Q * spectrum) @ Q.T
            deviation = deviation + deviation.swapaxes(1, 2)
        deviation -= deviation.mean(axis=0)
        A = np.broadcast_to(mean, shape)
        if similarity:
            A = A + similarity / np.abs(_eigenvalues(deviation)).max() * deviation
        away = rng.standard_normal((clients, dim))
        centres = rng.standard_normal(dim) + heterogeneity * away / np.linalg.norm(away, axis=1, keepdims=True)
        b = A * centres if diagonal else np.matmul(A, centres[:, :, None])[..., 0]
        return cls(A, b, noise=noise, samples=samples, seed=instance, start_scale=start_scale)

    @property
    def _diagonal(self):
        return self.A.ndim == 2

    def constants(self):
        """mu and L of the mean objective; mu_min and L_max: least eigenvalue and largest norm of any client's Hessian;
        delta_A, delta_rms, delta_B: see ``dissimilarity``."""
        return self._constants

    @functools.cached_property
    def _constants(self):
        mean = _eigenvalues(self._mean[0][None])
        own = _eigenvalues(self.A)
        constants = {"mu": mean.min(), "L": mean.max(), "mu_min": own.min(), "L_max": np.abs(own).max()}
        constants = {name: float(value) for name, value in constants.items()}
        return constants | dissimilarity(self.A - self._mean[0])

    @functools.cached_property
    def _factors(self):
        """Eigenvalues (m, d) and eigenvectors (m, d, d) of every A_i: one factorisation for every proximal weight."""
        return (self.A, None) if self._diagonal else np.linalg.eigh(self.A)

    @property
    def smoothness(self):
        """L of the mean objective."""
        return self._constants["L"]

    def start(self, seed):
        if not self.start_scale:
            return np.zeros(self.dim)
        return self.start_scale * stream(seed, "start").standard_normal(self.dim)

    def batch(self, clients, index):
        return Rows(self, clients, index.shape[1], None if self.noise is None else self.noise[index].mean(axis=1))

    def full_batch(self, clients):
        return Rows(self, clients, self.samples, None)

    def prox(self, v, weight, clients):
        """Exact ``argmin_y f_i(y) + weight/2 |y - v_i|^2``: (m, d). Raises UserError if that is not strongly convex."""
        values, vectors = (None if part is None else rows_of(part, clients) for part in self._factors)
        shifted = values + weight
        if not shifted.min() > 0:
            raise UserError(f"quadratic: a proximal weight of {weight} does not make every client strongly convex")
        right = rows_of(self.b, clients) + weight * arrays.rows(v, len(clients))
        if vectors is None:
            return right / shifted
        turned = np.matmul(vectors.swapaxes(1, 2), right[..., None]) / shifted[..., None]
        return np.matmul(vectors, turned)[..., 0]

    def value(self, x):
        """F(x)."""
        A, b, c = self._mean
        return float(0.5 * (x @ _apply(A, x)) - b @ x + c)

    def gradient(self, x):
        """Gradient of F at x: (d,)."""
        return _apply(self._mean[0], x) - self._mean[1]

    def evaluate(self, x):
        metrics = {"loss": self.value(x), "gradient_norm": float(np.linalg.norm(self.gradient(x)))}
        if self.optimum is not None:
            apart = x - self.optimum.x
            metrics["suboptimality"] = float(0.5 * (apart @ _apply(self._mean[0], apart)))
            metrics["distance"] = float(np.linalg.norm(apart))
        if self.dim == 1:
            metrics["output"] = float(x[0])
        return metrics

    def solve(self):
        """Optimum from the linear system of the mean. Raises UserError unless the mean is strongly convex."""
        A, b, _ = self._mean
        mu = self.constants()["mu"]
        if not mu > 0:
            raise UserError("the optimum of quadratics is computed only where their mean is strongly convex")
        x = b / A if self._diagonal else np.linalg.solve(A, b)
        gradient = self.gradient(x)
        return Optimum(self.value(x), x, float(gradient @ gradient / (2 * mu)))


class Rows:
    """A block of m clients. shift: (m, d) noise that every gradient of the step adds, or None."""

    def __init__(self, problem, clients, size, shift):
        self.A, self.b, self.c = (rows_of(part, clients) for part in (problem.A, problem.b, problem.c))
        self.size, self.shift = size, shift

    def _product(self, y):
        return self.A * y if self.A.ndim == 2 else np.matmul(self.A, y[..., None])[..., 0]

    def _grad(self, product):
        exact = product - self.b
        return exact if self.shift is None else exact + self.shift

    def grad(self, y):
        return self._grad(self._product(arrays.rows(y, len(self.b))))

    def value_and_grad(self, y):
        y = arrays.rows(y, len(self.b))
        product = self._product(y)
        value = 0.5 * np.vecdot(y, product) - np.vecdot(y, self.b) + self.c
        return value[:, None], self._grad(product)


def dissimilarity(D):
    """How much clients with Hessians A_i differ, from D_i = A_i - mean_j A_j, matrices (m, d, d) or diagonals (m, d).

    delta_A = |mean_i D_i^2|^(1/2), the least constant of FedRed's Definition 2: mean_i |D_i v|^2 <= delta_A^2 |v|^2.
    delta_rms: root mean square of the |D_i|, which its Section 5 calls delta_A; by Remark 18 Definition 2 holds with it
    as well. delta_B = max_i |D_i| (Definition 1). delta_A <= delta_rms <= delta_B.
    """
    norms = np.abs(_eigenvalues(D)).max(axis=1)
    square = (D * D if D.ndim == 2 else np.matmul(D, D)).mean(axis=0)
    found = {"delta_A": np.sqrt(_eigenvalues(square[None]).max()), "delta_rms": np.sqrt(np.mean(norms**2))}
    return {name: float(value) for name, value in (found | {"delta_B": norms.max()}).items()}


def rows_of(a, clients):
    """a[clients], as a view where clients (sorted) are neighbours."""
    first, last = int(clients[0]), int(clients[-1])
    return a[first : last + 1] if last - first + 1 == len(clients) else a[clients]


def _apply(A, x):
    return A * x if A.ndim == 1 else A @ x


def _eigenvalues(A):
    """Eigenvalues of matrices (m, d, d), or of diagonals (m, d), which are themselves."""
    return A if A.ndim == 2 else np.linalg.eigvalsh(A)
