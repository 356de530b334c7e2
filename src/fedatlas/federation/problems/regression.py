"""The common part of regressions in NumPy: the l2 term, the clients' weights, and the solver for the optimum."""

import functools
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fedatlas.errors import UserError
from fedatlas.federation import arrays
from fedatlas.federation.problems import DataKind
from fedatlas.federation.problems.base import Batch, Optimum
from fedatlas.federation.problems.rows import WEIGHTS_DOC, RowProblem, Weights
from fedatlas.registry.options import option

if TYPE_CHECKING:
    from fedatlas.data.dataset import Dataset
    from fedatlas.federation.partitions import Split

GAP = 1e-12  # largest gap of an optimum that solve() returns
Penalty = float | Literal["1/n"]
L2_DOC = "weight of the penalty |x|^2 / 2; 1/n is one over the number of samples"
START_SCALE_DOC = "x0 ~ N(0, start_scale^2) in every coordinate, or 0"


@dataclass(frozen=True, kw_only=True)
class RegressionKind(DataKind):
    """A kind of l2-regularised regression."""

    constants = ("L", "L_max", "mu")
    normal_start = True
    oracles = ("hessian",)

    l2: Penalty = option(0.0, doc=L2_DOC, low=0)
    weights: Weights = option("equal", doc=WEIGHTS_DOC)

    def is_pooled(self, split: "Split", samples: int, clients: int) -> bool:
        return split.complete and (self.weights == "size" or split.balanced(samples, clients))

    def available_constants(self) -> tuple[str, ...]:
        return self.constants if self.l2 else ("L", "L_max")

    @property
    def solvable(self) -> bool:
        return bool(self.l2)


class Regression(RowProblem):
    """l2-regularised regression in NumPy.

    F(x) = mean_j w_j loss_j(x) + l2/2 |x|^2 with the weights w of the rows that make it the mean of the clients'
    objectives. Subclasses define the attributes that are declared here, and ``value``, ``gradient`` and
    ``hessian_product`` of F. The l2 term is the same for all clients, whatever their weights.
    """

    oracles = ("hessian",)

    A: Any
    l2: float
    start_scale: float
    dtype: np.dtype
    weights: Weights

    @abstractmethod
    def gradient(self, x: np.ndarray) -> np.ndarray:
        """Return the gradient of F at x (d,): (d,)."""

    @abstractmethod
    def hessian_product(self, x: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        """Return the map v -> (Hessian of F at x) v, both (d,)."""

    @abstractmethod
    def curvature(self, A: Any, weights: np.ndarray | None = None) -> float:
        """Return the largest curvature of the weighted mean loss of rows.

        Args:
            A: Features (n, p).
            weights: Weights (n,) of the rows, or None for 1.
        """

    @property
    def gather_limit(self) -> int:
        """Draws of the largest minibatch whose rows are gathered; a larger one is weights of all rows.

        It is the same for all clients, or bits would depend on the blocks.
        """
        return self.samples // 8

    def penalty(self, l2: Penalty) -> float:
        """Return the l2 weight as a number."""
        return 1 / self.samples if l2 == "1/n" else float(l2)

    @functools.cached_property
    def client_rows(self) -> Any:
        """Index of the rows that clients have: a slice if these are all rows."""
        weights = self.row_weights
        return slice(None) if weights is None or weights.all() else np.flatnonzero(weights)

    def mean_loss(self, losses: np.ndarray) -> np.floating:
        """Return the weighted mean of the losses (n,) of all rows."""
        return losses.mean() if self.row_weights is None else self.row_weights @ losses / self.samples

    @functools.cached_property
    def _loss_factors(self) -> np.ndarray | None:
        return None if self.client_factors is None else self.client_factors[:, None].astype(self.dtype)

    def loss_factors(self, clients: np.ndarray) -> np.ndarray | int:
        """Return the factors of the losses of clients (m,): (m, 1), or 1 if all are 1."""
        return 1 if self._loss_factors is None else self._loss_factors[clients]

    def loss_factor(self, client: int) -> float:
        """Return the factor of the losses of one client."""
        return 1.0 if self._loss_factors is None else float(self._loss_factors[client, 0])

    @functools.cached_property
    def smoothness(self) -> float:
        """Bound L on the curvature of F."""
        return self.curvature(self.A, self.row_weights) + self.l2

    @functools.cached_property
    def client_smoothness(self) -> float:
        """Largest bound L on the curvature of any client's objective."""
        if (partition := self.partition) is None:
            return self.smoothness
        clients = range(partition.clients)
        return max(self.loss_factor(i) * self.curvature(self.A[partition.client(i)]) for i in clients) + self.l2

    @property
    def solvable(self) -> bool:
        """True if the minimum is known to exist."""
        return self.l2 > 0

    def value_and_gradient(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        """Return F(x) and its gradient (d,) at x (d,)."""
        return self.value(x), self.gradient(x)

    def solve(self) -> Optimum:
        """Compute the optimum in float64 by SciPy's L-BFGS and then Newton-CG steps.

        Its gap |grad|^2 / (2 l2) bounds F(x) - F*.

        Raises:
            UserError: l2 is 0, so that the minimum may not exist, or the gap stays above 1e-12.
        """
        from scipy.optimize import minimize

        if not self.solvable:
            raise UserError(
                f"the optimum of {type(self).__name__.lower()} regression is computed for l2 > 0 only: give the "
                "problem's l2"
            )
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
            raise UserError(
                f"the solver of the optimum stopped at a gap of {gap:.1e}; {GAP:.0e} was asked for: scale the features "
                "(standardise of your own data), raise l2, or go without the optimum"
            )
        return Optimum(self.value(x), x, gap)

    def _newton(self, x: np.ndarray, gradient: np.ndarray) -> np.ndarray | None:
        """Return x after a Newton-CG step, halved until the gradient is shorter; None if it never is."""
        from scipy.sparse.linalg import LinearOperator, cg

        hessian = LinearOperator((self.dim, self.dim), matvec=self.hessian_product(x), dtype=np.float64)
        step, _ = cg(hessian, gradient, rtol=1e-2, maxiter=2000)
        for _ in range(20):
            if np.linalg.norm(self.gradient(x - step)) < np.linalg.norm(gradient):
                return x - step
            step = step / 2
        return None

    def constants(self) -> dict[str, float]:
        """Return the constants.

        L is the smoothness of F, L_max the largest smoothness of any client's objective and mu = l2 the strong
        convexity of all of them, where l2 is positive.
        """
        names = ("L", "L_max", *(["mu"] if self.l2 > 0 else []))
        return {name: value for name in names if (value := self.constant(name)) is not None}

    def constant(self, name: str) -> float | None:
        # without the others: L and L_max take spectra of the data
        if name == "mu":
            return self.l2 or None
        return {"L": lambda: self.smoothness, "L_max": lambda: self.client_smoothness}.get(name, lambda: None)()

    def start_from(self, rng: Any) -> np.ndarray:
        if not self.start_scale:
            return np.zeros(self.dim, self.dtype)
        return (self.start_scale * rng.standard_normal(self.dim)).astype(self.dtype)


class ClientBatches:
    """A block of m clients with one minibatch object for each.

    Args:
        batches: Minibatches of one client each.
        shared: Whether all are the same, so that a gradient at a common point is computed once.
    """

    def __init__(self, batches: Sequence[Batch], shared: bool = False) -> None:
        self.batches, self.shared = batches, shared
        self.size = np.array([batch.size for batch in batches])

    def grad(self, y: np.ndarray) -> np.ndarray:
        if self.shared and y.ndim == 1:
            return arrays.rows(self.batches[0].grad(y)[0], len(self.batches))
        y = arrays.rows(y, len(self.batches))
        return np.concatenate([batch.grad(v) for batch, v in zip(self.batches, y, strict=True)])

    def hessian_product(self, y: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Return the products of the Hessians at y with v, (m, d) each, or (d,) for all clients."""
        y, v = (arrays.rows(vector, len(self.batches)) for vector in (y, v))
        batches: Any = self.batches
        return np.concatenate([batch.hessian_product(y, v) for batch, y, v in zip(batches, y, v, strict=True)])

    def value_and_grad(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        y = arrays.rows(y, len(self.batches))
        pairs = [batch.value_and_grad(v) for batch, v in zip(self.batches, y, strict=True)]
        return np.concatenate([v for v, _ in pairs]), np.concatenate([g for _, g in pairs])


def evaluation_data(train: "Dataset", test: "Dataset | None", dtype: Any) -> dict[str, Any]:
    """Return features and labels of test rows, those of ``test`` or of ``train``, and of validation rows, or None."""
    parts: dict[str, Any] = {"test": None, "validation": None}
    for name in parts:
        if (labels := getattr(train, f"y_{name}")) is not None:
            parts[name] = train.features(name, dtype), labels
    return parts if test is None else parts | {"test": (test.features(dtype=dtype), test.y)}
