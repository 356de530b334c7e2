"""Quadratic client objectives f_i(x) = 1/2 <x, A_i x> - <b_i, x> + c_i, with noise on their gradients if asked for."""

import functools
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from fedatlas.errors import UserError
from fedatlas.federation import arrays
from fedatlas.federation.problems import INSTANCE_DOC, SyntheticKind, instance_seed
from fedatlas.federation.problems.base import Batch, Optimum, Problem
from fedatlas.federation.streams import stream
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class SyntheticQuadratic(SyntheticKind):
    """Quadratics, one for each client: a synthetic instance, or f_i(x) = a_i |x - u_i|^2 / 2 with given centres u_i
    (FedAWE, Example 1) and curvatures a_i (FedSPS, Example 1).

    The other eigenvalues of the mean Hessian lie evenly between mu and L on a log scale. A client is convex for sure if
    delta_B <= mu.
    """

    name = "quadratic"
    constants = ("mu", "L", "mu_min", "L_max", "delta_A", "delta_rms", "delta_B")
    reports = ("loss", "gradient_norm", "suboptimality", "distance", "output")
    per_client = True
    normal_start = True
    exact = True
    oracles = ("prox", "hessian")

    dim: int | None = option(None, doc="parameters d of a synthetic instance", low=1)
    centers: list[list[float]] | None = option(
        None, doc="centres u_i of given quadratics, one list of d for each client"
    )
    curvatures: list[float] | list[list[float]] | None = option(
        None, doc="a_i of given quadratics, a number for each client or a list of d for its coordinates; 1 by default"
    )
    mu: float = option(1.0, doc="smallest eigenvalue of the mean Hessian", above=0)
    L: float = option(100.0, doc="largest eigenvalue of the mean Hessian", above=0)
    similarity: float = option(
        0.0, doc="delta_B = max_i |A_i - mean_j A_j| in spectral norm, exactly (FedRed, Section 2)", low=0
    )
    heterogeneity: float = option(0.0, doc="distance of every client's own stationary point from a common point", low=0)
    diagonal: bool = option(False, doc="whether Hessians are diagonal, which costs d instead of d^2")
    instance: int | Literal["seed"] = option(0, doc=INSTANCE_DOC.format(", noise included"), low=0)
    zero_minimum: bool = option(
        False, doc="whether a constant makes F* = 0, so that losses of several instances can be compared"
    )
    noise: float = option(
        0.0, doc="standard deviation of each coordinate of a one-sample gradient about the true one", low=0
    )
    samples: int = option(1024, doc="rows of the table of noise, which play the part of data", low=1)
    start_scale: float = option(1.0, doc="x0 ~ N(0, start_scale^2) in every coordinate, or 0", low=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.dim is None) == (self.centers is None):
            raise UserError("quadratic: give either dim, for a synthetic instance, or centers")
        if self.curvatures is not None and self.centers is None:
            raise UserError("quadratic: curvatures go with centers; a synthetic instance has mu and L")
        if self.centers is not None and len({len(center) for center in self.centers}) != 1:
            raise UserError("quadratic: centers must be lists of equally many numbers")
        if len({len(a) if isinstance(a, list) else 0 for a in self.curvatures or ()}) > 1:
            raise UserError("quadratic: curvatures must be lists of equally many numbers")
        if self.mu > self.L:
            raise UserError(f"quadratic: mu is {self.mu} and L is {self.L}; mu <= L is needed")

    @property
    def solvable(self) -> bool:
        return self.curvatures is None or bool((np.asarray(self.curvatures, float).sum(axis=0) > 0).all())

    def metric_names(self, optimum: bool, parts: Collection[str] = ()) -> list[str]:
        dim = len(self.centers[0]) if self.centers else self.dim
        return [name for name in super().metric_names(optimum, parts) if name != "output" or dim == 1]

    def bytes(self, clients: int) -> int:
        # some copies of all matrices, and the table of noise
        dim = len(self.centers[0]) if self.dim is None and self.centers else self.dim or 1
        matrix = dim if self.diagonal or self.dim is None else dim * dim
        return 8 * (6 * clients * (matrix + dim) + (3 * self.samples * dim if self.noise else 0))

    def build(self, clients: int) -> "Quadratic":
        """Build the problem.

        Raises:
            UserError: There are not as many centres or curvatures as clients, or there is one client that shall differ
                from the mean.
        """
        A, b, c = self._explicit(clients) if self.dim is None else self._random(clients, self.dim)
        if self.zero_minimum:
            least = Quadratic(A, b, c).solve().F
            c = np.full(clients, -least) if c is None else c - least
        return Quadratic(A, b, c, self.noise, self.samples, instance_seed(self.name, self.instance), self.start_scale)

    def _explicit(self, clients: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return A (m, d), b (m, d) and c (m,) of quadratics with given centres and curvatures."""
        u = np.asarray(self.centers, float) if len({len(u) for u in self.centers or ()}) == 1 else np.zeros(0)
        if u.ndim != 2 or len(u) != clients or not u.size:
            raise UserError(
                f"quadratic: centers has shape {u.shape}; one list of numbers for each of {clients} is needed"
            )
        a = np.ones(clients) if self.curvatures is None else np.asarray(self.curvatures, float)
        if a.shape not in ((clients,), u.shape):
            raise UserError(
                f"quadratic: curvatures has shape {a.shape}; each of the {clients} clients needs one number, or d"
            )
        A = np.repeat(a[:, None], u.shape[1], axis=1) if a.ndim == 1 else a
        return A, A * u, 0.5 * np.vecdot(A * u, u)

    def _random(self, clients: int, dim: int) -> tuple[np.ndarray, np.ndarray, None]:
        """Return A (m, d, d) or (m, d) and b (m, d) of a synthetic instance."""
        if self.similarity and clients == 1:
            raise UserError("quadratic: one client cannot differ from the mean; leave similarity out")
        rng = stream(instance_seed(self.name, self.instance), "problem")
        spectrum = np.geomspace(self.mu, self.L, dim) if dim > 1 else np.array([float(self.mu)])
        shape = (clients, dim) if self.diagonal else (clients, dim, dim)
        deviation = rng.standard_normal(shape)
        if self.diagonal:
            mean = rng.permutation(spectrum)
        else:
            Q = np.linalg.qr(rng.standard_normal((dim, dim)))[0]
            mean = (Q * spectrum) @ Q.T
            deviation = deviation + deviation.swapaxes(1, 2)
        deviation -= deviation.mean(axis=0)
        A = np.broadcast_to(mean, shape)
        if self.similarity:
            A = A + self.similarity / np.abs(_eigenvalues(deviation)).max() * deviation
        offset = rng.standard_normal((clients, dim))
        centres = rng.standard_normal(dim) + self.heterogeneity * offset / np.linalg.norm(offset, axis=1, keepdims=True)
        return A, A * centres if self.diagonal else np.matmul(A, centres[:, :, None])[..., 0], None


class QuadraticMean(Problem):
    """The mean of m quadratics f_i(x) = 1/2 <x, A_i x> - <b_i, x> + c_i.

    Attributes:
        b: Vectors b_i, (m, d).
        mean: The mean of the A_i, (d, d) or its diagonal (d,), of the b_i, (d,), and of the c_i.
        start_scale: x0 ~ N(0, start_scale^2) in every coordinate, or 0.
    """

    b: np.ndarray
    mean: tuple[np.ndarray, np.ndarray, float]
    start_scale: float
    _factors: Any  # eigenvalues (m, d) and eigenvectors (m, d, d), or None of diagonal matrices, of every A_i

    @property
    def smoothness(self) -> float:
        """L of the mean objective."""
        return self.constants()["L"]

    def start_from(self, rng: Any) -> np.ndarray:
        return self.start_scale * rng.standard_normal(self.dim) if self.start_scale else np.zeros(self.dim)

    def prox(self, v: np.ndarray, weight: float, clients: np.ndarray) -> np.ndarray:
        """Return the exact ``argmin_y f_i(y) + weight/2 |y - v_i|^2`` of a block of clients: (m, d).

        The row of a client is NaN where that function is not strongly convex.
        """
        values, vectors = self._factors
        shifted = positive_rows(rows_of(values, clients) + weight)
        right = rows_of(self.b, clients) + weight * arrays.rows(v, len(clients))
        if vectors is None:
            return right / shifted
        vectors = rows_of(vectors, clients)
        turned = np.matmul(vectors.swapaxes(1, 2), right[..., None]) / shifted[..., None]
        return np.matmul(vectors, turned)[..., 0]

    def value(self, x: np.ndarray) -> float:
        A, b, c = self.mean
        return float(0.5 * (x @ _apply(A, x)) - b @ x + c)

    def gradient(self, x: np.ndarray) -> np.ndarray:
        """Return the gradient of F at x (d,): (d,)."""
        return _apply(self.mean[0], x) - self.mean[1]

    def evaluate(self, x: np.ndarray) -> dict[str, float]:
        metrics = {"loss": self.value(x), "gradient_norm": float(np.linalg.norm(self.gradient(x)))}
        if self.optimum is not None:
            difference = x - self.optimum.x
            metrics["suboptimality"] = float(0.5 * (difference @ _apply(self.mean[0], difference)))
            metrics["distance"] = float(np.linalg.norm(difference))
        if self.dim == 1:
            metrics["output"] = float(x[0])
        return metrics


class Quadratic(QuadraticMean):
    """The mean of m quadratics, one for each client.

    The noise is a table of Gaussian vectors of mean zero, which are drawn once. They are used as rows of data: a step's
    minibatch is an index of rows, and every gradient of the step adds their mean. The optimum is known if the mean of
    the A_i is positive definite.

    Args:
        A: Symmetric matrices (m, d, d), or the diagonals of diagonal matrices (m, d).
        b: Vectors (m, d).
        c: Constants (m,), 0 by default.
        noise: Standard deviation of each coordinate of a one-sample gradient about the true one; losses stay exact
            (FedSPS, Example 1).
        samples: Number of rows of the table of noise.
        seed: Seed of the table of noise.
        start_scale: x0 ~ N(0, start_scale^2) in every coordinate, or 0.

    Raises:
        UserError: The shapes do not fit, a number is not finite, or a matrix is not symmetric.

    Examples:
        >>> Quadratic([[1.0], [3.0]], [[1.0], [0.0]]).optimum.x
        array([0.25])
    """

    oracles = ("hessian",)

    def __init__(
        self,
        A: ArrayLike,
        b: ArrayLike,
        c: ArrayLike | None = None,
        noise: float = 0.0,
        samples: int = 1024,
        seed: int = 0,
        start_scale: float = 1.0,
    ) -> None:
        self.A, self.b = np.asarray(A, float), np.asarray(b, float)
        if self.b.ndim != 2:
            raise UserError(f"quadratic: b is {self.b.shape}; b needs a row for each client")
        self.clients, self.dim = self.b.shape
        if self.A.shape not in ((self.clients, self.dim), (self.clients, self.dim, self.dim)):
            raise UserError(f"quadratic: A is {self.A.shape} and b {self.b.shape}; A needs a matrix for each client")
        self.c = np.zeros(self.clients) if c is None else np.asarray(c, float)
        if self.c.shape != (self.clients,):
            raise UserError(f"quadratic: c is {self.c.shape}; c needs a number for each client")
        if not all(np.isfinite(values).all() for values in (self.A, self.b, self.c)):
            raise UserError("quadratic: A, b and c must be finite numbers")
        if not self._diagonal and not np.allclose(self.A, self.A.transpose(0, 2, 1)):
            raise UserError("quadratic: a matrix of A is not symmetric; pass (A + A') / 2, which has the same values")
        self.samples, self.start_scale = samples, start_scale
        self.noise = None
        if noise:
            table = stream(seed, "noise").standard_normal((self.samples, self.dim))
            self.noise = noise * (table - table.mean(axis=0))
        self.mean = (self.A.mean(axis=0), self.b.mean(axis=0), float(self.c.mean()))
        self.optimum = self.solve() if self.constants()["mu"] > 0 else None

    @property
    def _diagonal(self) -> bool:
        return self.A.ndim == 2

    def constants(self) -> dict[str, float]:
        """Return the constants, all exact.

        mu and L are of the mean objective, mu_min and L_max are the least eigenvalue and the largest norm of any
        client's Hessian; for delta_A, delta_rms and delta_B see ``dissimilarity``.
        """
        return self._constants

    @functools.cached_property
    def _constants(self) -> dict[str, float]:
        mean = _eigenvalues(self.mean[0][None])
        clients = _eigenvalues(self.A)
        constants = {"mu": mean.min(), "L": mean.max(), "mu_min": clients.min(), "L_max": np.abs(clients).max()}
        constants = {name: float(value) for name, value in constants.items()}
        return constants | dissimilarity(self.A - self.mean[0])

    @functools.cached_property
    def _factors(self) -> tuple[np.ndarray, np.ndarray | None]:
        """Eigenvalues (m, d) and eigenvectors (m, d, d) of every A_i: one factorisation for every proximal weight."""
        return (self.A, None) if self._diagonal else np.linalg.eigh(self.A)

    def batch(self, clients: np.ndarray, index: np.ndarray) -> Batch:
        """Return minibatches of a block of clients (m,) by an index (m, b) of rows of the table of noise."""
        return QuadraticBatch(
            self, clients, index.shape[1], None if self.noise is None else self.noise[index].mean(axis=1)
        )

    def full_batch(self, clients: np.ndarray) -> Batch:
        """Return the exact objectives of a block of clients (m,)."""
        return QuadraticBatch(self, clients, self.samples, None)

    def solve(self) -> Optimum:
        """Compute the optimum from the linear system of the mean; raise UserError unless that is strongly convex."""
        A, b, _ = self.mean
        mu = self.constants()["mu"]
        if not mu > 0:
            raise UserError("the optimum of quadratics is computed only where their mean is strongly convex")
        x = b / A if self._diagonal else np.linalg.solve(A, b)
        gradient = self.gradient(x)
        return Optimum(self.value(x), x, float(gradient @ gradient / (2 * mu)))


class QuadraticBatch:
    """Minibatches of m clients.

    Args:
        problem: Problem of the clients.
        clients: Ids, (m,).
        size: Samples of each minibatch.
        shift: Noise (m, d) that every gradient of the step adds, or None.
    """

    def __init__(self, problem: Quadratic, clients: np.ndarray, size: int, shift: np.ndarray | None) -> None:
        self.A, self.b, self.c = (rows_of(part, clients) for part in (problem.A, problem.b, problem.c))
        self.size, self.shift = size, shift

    def _product(self, y: np.ndarray) -> np.ndarray:
        return self.A * y if self.A.ndim == 2 else np.matmul(self.A, y[..., None])[..., 0]

    def _grad(self, product: np.ndarray) -> np.ndarray:
        """Return the gradient at y from A_i y, (m, d), in the same array: long vectors wait for the memory."""
        product -= self.b
        if self.shift is not None:
            product += self.shift
        return product

    def grad(self, y: np.ndarray) -> np.ndarray:
        return self._grad(self._product(arrays.rows(y, len(self.b))))

    def hessian_product(self, y: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Return A_i v_i, (m, d), for v (m, d) or (d,)."""
        return self._product(arrays.rows(v, len(self.b)))

    def value_and_grad(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        y = arrays.rows(y, len(self.b))
        product = self._product(y)
        value = 0.5 * np.vecdot(y, product) - np.vecdot(y, self.b) + self.c
        return value[:, None], self._grad(product)


def dissimilarity(D: np.ndarray) -> dict[str, float]:
    """Return delta_A, delta_rms and delta_B of clients with Hessians A_i (Jiang, Rodomanov & Stich 2024).

    delta_A = |mean_i D_i^2|^(1/2) is the least constant of Definition 2: mean_i |D_i v|^2 <= delta_A^2 |v|^2. delta_rms
    is the root mean square of the |D_i|, which Section 5 calls delta_A; by Remark 18 Definition 2 holds with it as
    well. delta_B = max_i |D_i| (Definition 1). delta_A <= delta_rms <= delta_B.

    Args:
        D: D_i = A_i - mean_j A_j, matrices (m, d, d) or diagonals (m, d).
    """
    norms = np.abs(_eigenvalues(D)).max(axis=1)
    square = (D * D if D.ndim == 2 else np.matmul(D, D)).mean(axis=0)
    return {
        "delta_A": float(np.sqrt(_eigenvalues(square[None]).max())),
        "delta_rms": float(np.sqrt(np.mean(norms**2))),
        "delta_B": float(norms.max()),
    }


def positive_rows(a: np.ndarray) -> np.ndarray:
    """Return rows (m, d), with NaN in place of each row that has an entry of at most 0."""
    return np.where(a.min(axis=1, keepdims=True) > 0, a, np.nan)


def rows_of(a: np.ndarray, clients: np.ndarray) -> np.ndarray:
    """Return a[clients], as a view if the clients (sorted) are consecutive."""
    first, last = int(clients[0]), int(clients[-1])
    return a[first : last + 1] if last - first + 1 == len(clients) else a[clients]


def _apply(A: np.ndarray, x: np.ndarray) -> np.ndarray:
    return A * x if A.ndim == 1 else A @ x


def _eigenvalues(A: np.ndarray) -> np.ndarray:
    """Return the eigenvalues of matrices (m, d, d), or of diagonals (m, d), which are the diagonals."""
    return A if A.ndim == 2 else np.linalg.eigvalsh(A)
