"""Sums of quadratics with Hessians of given similarity, convex or not (FedRed, Section 5)."""

import functools
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.linalg.blas import dsymv

from fedatlas.errors import UserError
from fedatlas.federation import arrays
from fedatlas.federation.problems import INSTANCE_DOC, SyntheticKind, instance_seed
from fedatlas.federation.problems.base import Batch, Optimum
from fedatlas.federation.problems.quadratic import QuadraticMean, dissimilarity, rows_of
from fedatlas.federation.streams import stream
from fedatlas.registry.options import option

# mu: least eigenvalue of every A_i. spread: relative size of A_ij - A_i; above 1 it makes the A_ij indefinite.
CONVEXITY = {
    "strongly convex": {"mu": 1.0, "spread": 0.5, "beta": 0.0},
    "convex": {"mu": 1e-3, "spread": 0.5, "beta": 0.0},
    "non-convex": {"mu": 1.0, "spread": 1.25, "beta": 400.0},
}
SLOW = 0.1  # share of the eigenvalues of the mean Hessian that lie between mu and 1
TILT = 0.35  # largest difference of A_i from the mean, relative to the mean
DRAWS = 50  # of the differences, before the similarity counts as too large


@dataclass(frozen=True, kw_only=True)
class SyntheticSimilarQuadratic(SyntheticKind):
    """Quadratic sums whose Hessians differ among clients by a given similarity (Jiang, Rodomanov & Stich 2024,
    Section 5), with a common non-convex term if asked for; see `SimilarQuadratic`.

    ``convexity`` chooses among the paper's instances, whose spectra it leaves open: ``strongly convex`` has a tenth of
    the eigenvalues at 1, ``convex`` has them spread down to 1e-3, ``non-convex`` has indefinite A_ij, with positive
    definite means, and beta = 400: no f_i is convex, f is bounded below.
    """

    name = "similar"
    constants = ("mu", "L", "mu_min", "L_max", "delta_A", "delta_rms", "delta_B")
    reports = ("loss", "gradient_norm", "suboptimality", "distance")
    per_client = True
    normal_start = True
    exact = True
    oracles = ("prox",)

    dim: int = option(1000, doc="parameters d", low=1)
    convexity: Literal["strongly convex", "convex", "non-convex"] = option(
        "strongly convex", doc="the paper's instance, which sets the defaults of mu, spread and beta"
    )
    components: int = option(10, doc="quadratics m of each client, an even number", low=2)
    L: float = option(100.0, doc="largest eigenvalue of every A_ij", above=1)
    similarity: float = option(5.0, doc="delta_B = max_i |A_i - mean_j A_j| in spectral norm, exactly", low=0)
    mu: float | None = option(None, doc="least eigenvalue of every A_i", above=0, high=1)
    spread: float | None = option(None, doc="relative size of A_ij - A_i; above 1 the A_ij are indefinite", low=0)
    beta: float | None = option(None, doc="weight of the non-convex term", low=0)
    rank: int | None = option(None, doc="rank of the differences between clients; dim / 10 by default", low=1)
    center_scale: float = option(
        5.0, doc="b_ij is a Gaussian vector of its own plus this times one that is common to all"
    )
    scatter: float = option(1.0, doc="size of the b_ij's own vectors; with 0 all quadratics have one minimiser", low=0)
    instance: int | Literal["seed"] = option(0, doc=INSTANCE_DOC.format(""), low=0)
    start_scale: float = option(0.0, doc="x0 ~ N(0, start_scale^2) in every coordinate, or 0", low=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.components % 2:
            raise UserError(f"similar: components is {self.components}; it must be an even number")
        if not self._rank < self.dim - 1:
            raise UserError(f"similar: rank is {self._rank} and dim is {self.dim}; rank < dim - 1 is needed")

    @property
    def _rank(self) -> int:
        return max(1, self.dim // 10) if self.rank is None else self.rank

    @property
    def solvable(self) -> bool:
        return not (CONVEXITY[self.convexity]["beta"] if self.beta is None else self.beta)

    def bytes(self, clients: int) -> int:
        return 8 * (6 * self.dim**2 + clients * (6 * self._rank**2 + 8 * self.components * self.dim))

    def build(self, clients: int) -> "SimilarQuadratic":
        """Build the problem.

        Raises:
            UserError: There is one client, or the similarity is too large for L.
        """
        if clients < 2:
            raise UserError("similar: at least two clients are needed")
        options = {"mu": self.mu, "spread": self.spread, "beta": self.beta}
        mu, spread, beta = (CONVEXITY[self.convexity][k] if v is None else float(v) for k, v in options.items())
        dim, L, rank = self.dim, self.L, self._rank
        rng = stream(instance_seed(self.name, self.instance), "problem")
        V = np.linalg.qr(rng.standard_normal((dim, dim)))[0]
        slow = min(max(1, round(SLOW * dim)), dim - 1)
        bulk = mu + (L - mu) / (1 + TILT + spread)
        spectrum = np.concatenate([np.geomspace(mu, 1, slow), np.linspace(1, bulk, dim - slow)])
        spectrum[-1] = L  # an eigenvector that all share: U and e vanish there
        inner = rng.standard_normal((dim - 1, rank))
        U = V[:, :-1] @ np.linalg.qr(inner)[0]
        W = V @ (np.sqrt(spectrum - mu)[:, None] * (V.T @ U))
        R = _triangle(W)
        for _ in range(DRAWS):
            T = rng.standard_normal((clients, rank, rank))
            T = T + T.swapaxes(1, 2)
            T = T - T.mean(axis=0)  # symmetric matrices that sum to zero
            T *= self.similarity / np.abs(np.linalg.eigvalsh(R @ T @ R.T)).max()
            if np.abs(np.linalg.eigvalsh(T)).max() <= TILT:
                break
        else:
            raise UserError(
                f"similar: a similarity of {self.similarity} is too large for L = {L}: lower it, or raise the rank"
            )
        half = np.repeat([spread, -spread], self.components // 2)
        e = rng.permuted(np.broadcast_to(half[:, None], (clients, self.components, dim)), axis=1)
        e[..., -1] = 0
        common = self.center_scale * rng.standard_normal(dim)
        b = common + self.scatter * rng.standard_normal((clients, self.components, dim))
        return SimilarQuadratic(V, W, T, mu, spectrum, e, b, beta, self.start_scale)


class SimilarQuadratic(QuadraticMean):
    """Quadratic sums of n clients with a common non-convex term (Jiang, Rodomanov & Stich 2024, Section 5):

        f_i(x) = 1/m sum_j 1/2 <x - b_ij, A_ij (x - b_ij)> + beta sum_k x_k^2 / (1 + x_k^2)

    The A_ij are never built. With V orthonormal (d, d), S = V diag(s) V', s_k >= 0 and U orthonormal (d, rank),

        A_ij = mu I + S (I + U T_i U' + V diag(e_ij) V') S,    sum_i T_i = 0,    sum_j e_ij = 0,

    so a full gradient of all clients costs one product with the mean Hessian and two thin ones, and a gradient of a few
    samples two more with V. Random matrices fill T_i; e_ij are +-spread. Their sizes make the constants exact:
    delta_B = max_i |A_i - mean_j A_j| is ``similarity``; every A_i has mu as its least eigenvalue and L as its largest,
    and so has every A_ij where spread + |T_i| < 1 (the eigenvectors at mu are common: what is at least mu everywhere
    and mu on average does not differ there; that at L is made common).

    Full gradients are those of A_i; a minibatch draws j.

    Args:
        V: Orthonormal eigenvectors (d, d) of the mean Hessian.
        W: S U, (d, rank).
        T: Differences between clients, (n, rank, rank).
        mu: Least eigenvalue of every A_i.
        spectrum: Eigenvalues (d,) of the mean Hessian.
        e: Differences between components, (n, m, d).
        b: Centres b_ij, (n, m, d).
        beta: Weight of the non-convex term.
        start_scale: x0 ~ N(0, start_scale^2) in every coordinate, or 0.
    """

    def __init__(
        self,
        V: np.ndarray,
        W: np.ndarray,
        T: np.ndarray,
        mu: float,
        spectrum: np.ndarray,
        e: np.ndarray,
        b: np.ndarray,
        beta: float,
        start_scale: float,
    ) -> None:
        self.V, self.W, self.T, self.mu, self.e, self.beta = V, W, T, mu, e, float(beta)
        mean = np.asfortranarray((V * spectrum) @ V.T)
        self.start_scale, self.spectrum = start_scale, spectrum
        self.clients, self.samples, self.dim = b.shape
        Vb = b @ V
        within = ((spectrum - mu) * e * Vb) @ V.T  # (A_ij - A_i) b_ij
        self.mean = mean, np.zeros(self.dim), 0.0
        client = np.stack([self.product(b[:, j], np.arange(self.clients)) for j in range(self.samples)], axis=1)
        self.Ab = client + within  # (n, m, d)
        self.b = self.Ab.mean(axis=1)
        self.constants_of_components = 0.5 * np.vecdot(self.Ab, b)  # (n, m)
        self.mean = mean, self.b.mean(axis=0), float(self.constants_of_components.mean())
        self.uniform = bool(beta == 0 and np.abs(e).max() + np.abs(np.linalg.eigvalsh(T)).max() < 1)
        self.optimum = self.solve() if self.solvable else None

    def hessians(self) -> np.ndarray:
        """Build the matrices A_i: (n, d, d)."""
        return self.mean[0] + self.W @ self.T @ self.W.T

    def product(self, y: np.ndarray, clients: np.ndarray) -> np.ndarray:
        """Return A_i y_i (m, d) of the clients (m,) at y (m, d)."""
        thin = np.matmul(np.matmul(y[:, None], self.W), rows_of(self.T, clients))
        common = np.stack([dsymv(1.0, self.mean[0], row) for row in y])  # by rows: the same bits in any block
        return common + np.matmul(thin, self.W.T)[:, 0]

    def nonconvex_gradient(self, x: np.ndarray) -> np.ndarray | float:
        """Return the gradient of the non-convex term, of the shape of x (..., d), or 0."""
        return 2 * self.beta * x / (1 + x * x) ** 2 if self.beta else 0.0

    def nonconvex_value(self, x: np.ndarray) -> np.ndarray | float:
        """Return the value of the non-convex term, (...,) at x (..., d), or 0."""
        return self.beta * (x * x / (1 + x * x)).sum(axis=-1) if self.beta else 0.0

    def constants(self) -> dict[str, float]:
        """Return the constants, all exact.

        L is the smoothness of the f_i and of f (with beta their Hessians at 0 attain it), mu the least curvature of any
        f_i, negative with beta (attained where all |x_k| = 1). For delta_A, delta_rms and delta_B see
        `fedatlas.federation.problems.quadratic.dissimilarity`.
        """
        mu, L = self.mu - self.beta / 2, float(self.spectrum[-1] + 2 * self.beta)
        return {"mu": mu, "L": L, "mu_min": mu, "L_max": L} | self._similarity

    @functools.cached_property
    def _similarity(self) -> dict[str, float]:
        R = _triangle(self.W)
        return dissimilarity(R @ self.T @ R.T)

    @property
    def solvable(self) -> bool:
        """True if the optimum is known: there is no non-convex term."""
        return self.beta == 0

    def batch(self, clients: np.ndarray, index: np.ndarray) -> Batch:
        """Return minibatches of a block of clients (m,) by an index (m, b) of components j."""
        return SimilarBatch(self, clients, index)

    def full_batch(self, clients: np.ndarray) -> Batch:
        """Return all components of a block of clients (m,)."""
        return SimilarBatch(self, clients)

    @functools.cached_property
    def _factors(self) -> tuple[np.ndarray, np.ndarray]:
        """Eigenvalues (n, d) and eigenvectors (n, d, d) of every A_i: one factorisation for every proximal weight."""
        return np.linalg.eigh(self.hessians())

    def prox(self, v: np.ndarray, weight: float, clients: np.ndarray) -> np.ndarray:
        """Return the exact ``argmin_y f_i(y) + weight/2 |y - v_i|^2`` of a block of clients: (m, d).

        The row of a client is NaN where that function is not strongly convex.

        Raises:
            UserError: There is a non-convex term.
        """
        if self.beta:
            raise UserError("similar: the non-convex term has no exact proximal step: use gradient steps, or beta = 0")
        return super().prox(v, weight, clients)

    def value(self, x: np.ndarray) -> float:
        return super().value(x) + float(self.nonconvex_value(x))

    def gradient(self, x: np.ndarray) -> np.ndarray:
        """Return the gradient of f at x (d,): (d,)."""
        return super().gradient(x) + self.nonconvex_gradient(x)

    def solve(self) -> Optimum:
        """Compute the optimum from the mean's eigenvectors; raise UserError if there is a non-convex term."""
        if not self.solvable:
            raise UserError("similar: with a non-convex term the optimum is not known")
        x = self.V @ ((self.mean[1] @ self.V) / self.spectrum)
        gradient = self.gradient(x)
        return Optimum(self.value(x), x, float(gradient @ gradient / (2 * self.mu)))


class SimilarBatch:
    """Components of m clients: all of them, or a minibatch by an index (m, b)."""

    def __init__(self, problem: SimilarQuadratic, clients: np.ndarray, index: np.ndarray | None = None) -> None:
        self.problem, self.clients = problem, clients
        self.size = problem.samples if index is None else index.shape[1]
        if index is None:
            self.e, self.right, self.constant = (
                None,
                *(rows_of(part, clients) for part in (problem.b, problem.constants_of_components)),
            )
            self.constant = self.constant.mean(axis=1)
        else:
            at = (np.asarray(clients)[:, None], index)
            e = problem.e[at].mean(axis=1)
            self.e, self.right, self.constant = (
                e,
                problem.Ab[at].mean(axis=1),
                problem.constants_of_components[at].mean(axis=1),
            )

    def _product(self, y: np.ndarray) -> np.ndarray:
        problem = self.problem
        product = problem.product(y, self.clients)
        if self.e is not None:
            turned = (problem.spectrum - problem.mu) * self.e * np.matmul(y[:, None], problem.V)[:, 0]
            product = product + np.matmul(turned[:, None], problem.V.T)[:, 0]
        return product

    def grad(self, y: np.ndarray) -> np.ndarray:
        y = arrays.rows(y, len(self.clients))
        return self._product(y) - self.right + self.problem.nonconvex_gradient(y)

    def value_and_grad(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        y = arrays.rows(y, len(self.clients))
        product = self._product(y)
        value = 0.5 * np.vecdot(y, product) - np.vecdot(y, self.right) + self.constant + self.problem.nonconvex_value(y)
        return value[:, None], product - self.right + self.problem.nonconvex_gradient(y)


def _triangle(W: np.ndarray) -> np.ndarray:
    """Return R of W = Q R."""
    R: Any = np.linalg.qr(W, mode="r")  # NumPy types it as the pair of Q and R
    return R
