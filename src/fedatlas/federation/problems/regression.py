"""What regressions in NumPy share: the l2 term, the clients' weights, and the solver for the optimum."""

import functools
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fedatlas.errors import UserError
from fedatlas.federation import arrays
from fedatlas.federation.problems.base import Batch, DataKind, Optimum, Problem
from fedatlas.registry.options import option

if TYPE_CHECKING:
    from fedatlas.data.dataset import Dataset

GAP = 1e-12  # what solve() must certify
Penalty = float | Literal["1/n"]
Weights = Literal["equal", "size"]
L2 = "weight of the penalty |x|^2 / 2; 1/n is one over the number of samples"
WEIGHTS = (
    "equal: a client's objective is the mean loss of its samples; size: that mean times n m_i / M, for n clients of "
    "which this one has m_i of M samples, so that the plain mean over clients is the mean over all samples (FedRed, "
    "Section 5)"
)
START_SCALE = "x0 ~ N(0, start_scale^2) in every coordinate, or 0"


@dataclass(frozen=True, kw_only=True)
class RegressionKind(DataKind):
    """A kind of l2-regularised regression."""

    constants = ("L", "L_max", "mu")
    normal_start = True

    l2: Penalty = option(0.0, doc=L2, low=0)

    def available_constants(self) -> tuple[str, ...]:
        return self.constants if self.l2 else ("L", "L_max")

    @property
    def solvable(self) -> bool:
        return bool(self.l2)


class Regression(Problem):
    """l2-regularised regression in NumPy.

    Subclasses define the attributes that are declared here, and ``value``, ``gradient`` and ``hessian_product`` of all
    data. The l2 term is the same for all clients, whatever their weights.
    """

    A: Any
    l2: float
    smoothness: Any
    start_scale: float
    dtype: np.dtype
    curvature: Callable[[Any], float]
    _shares: np.ndarray | None = None

    @abstractmethod
    def gradient(self, x: np.ndarray) -> np.ndarray:
        """Gradient of F at x (d,): (d,)."""

    @abstractmethod
    def hessian_product(self, x: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        """The map v -> (Hessian of F at x) v, both (d,)."""

    @property
    def draw_bytes(self) -> int:  # type: ignore[override]
        """Bytes of a row of data and of what is made of it."""
        return 2 * int(self.A.shape[1]) * self.dtype.itemsize

    def memory(self, batch: int, clients: int) -> dict[str, int]:
        """Bytes of data, and of the rows of minibatches; large minibatches are weights of all rows."""
        found = super().memory(batch, clients)
        if batch > self.samples // 8:
            found["activations"] = clients * 3 * 8 * self.samples
        return found

    def penalty(self, l2: Penalty) -> float:
        """The l2 weight as a number."""
        return 1 / self.samples if l2 == "1/n" else float(l2)

    def weigh(self, weights: Weights) -> None:
        """Choose the clients' weights."""
        if weights == "size" and self.partition is not None:
            sizes = self.partition.sizes
            self._shares = (len(sizes) / sizes.sum() * sizes)[:, None].astype(self.dtype)

    def shares(self, clients: np.ndarray) -> np.ndarray | int:
        """What the losses of clients (m,) are multiplied by: (m, 1), or 1 if that is 1 for all."""
        return 1 if self._shares is None else self._shares[clients]

    def share(self, client: int) -> float:
        """What the losses of one client are multiplied by."""
        return 1.0 if self._shares is None else float(self._shares[client, 0])

    @functools.cached_property
    def client_smoothness(self) -> float:
        """Largest L of any client's objective."""
        if self.partition is None:
            return self.smoothness
        each = range(self.partition.clients)
        return max(self.share(i) * self.curvature(self.A[self.partition.client(i)]) for i in each) + self.l2

    @property
    def solvable(self) -> bool:
        """Whether the minimum is known to exist."""
        return self.l2 > 0

    def value_and_gradient(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        """F(x) and its gradient (d,). x: (d,)."""
        return self.value(x), self.gradient(x)

    def solve(self) -> Optimum:
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

    def _newton(self, x: np.ndarray, gradient: np.ndarray) -> np.ndarray | None:
        """A Newton-CG step, halved until the gradient is shorter; None if it never is."""
        from scipy.sparse.linalg import LinearOperator, cg

        hessian = LinearOperator((self.dim, self.dim), matvec=self.hessian_product(x), dtype=np.float64)
        step, _ = cg(hessian, gradient, rtol=1e-2, maxiter=2000)
        for _ in range(20):
            if np.linalg.norm(self.gradient(x - step)) < np.linalg.norm(gradient):
                return x - step
            step = step / 2
        return None

    def constants(self) -> dict[str, float]:
        """L, the smoothness of F; L_max, the largest of any client's objective; and, where l2 is positive, mu = l2, the
        strong convexity of all."""
        names = ("L", "L_max", *(["mu"] if self.l2 > 0 else []))
        return {name: value for name in names if (value := self.constant(name)) is not None}

    def constant(self, name: str) -> float | None:
        """One of the constants, or None. L and L_max take spectra of the data, so each is found without the others."""
        if name == "mu":
            return self.l2 or None
        return {"L": lambda: self.smoothness, "L_max": lambda: self.client_smoothness}.get(name, lambda: None)()

    def start_from(self, rng: Any) -> np.ndarray:
        if not self.start_scale:
            return np.zeros(self.dim, self.dtype)
        return (self.start_scale * rng.standard_normal(self.dim)).astype(self.dtype)


class Separate:
    """A block of m clients of which each has an oracle of its own; ``shared`` if all are the same."""

    def __init__(self, oracles: Sequence[Batch], shared: bool = False) -> None:
        self.oracles, self.shared = oracles, shared
        self.size = np.array([oracle.size for oracle in oracles])

    def grad(self, y: np.ndarray) -> np.ndarray:
        """Gradients (m, d)."""
        if self.shared and y.ndim == 1:
            return arrays.rows(self.oracles[0].grad(y)[0], len(self.oracles))
        return np.concatenate([o.grad(v) for o, v in zip(self.oracles, arrays.rows(y, len(self.oracles)), strict=True)])

    def value_and_grad(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Losses (m, 1) and gradients (m, d)."""
        y = arrays.rows(y, len(self.oracles))
        pairs = [o.value_and_grad(v) for o, v in zip(self.oracles, y, strict=True)]
        return np.concatenate([v for v, _ in pairs]), np.concatenate([g for _, g in pairs])


def held_out(train: "Dataset", test: "Dataset | None", dtype: Any) -> tuple[Any, np.ndarray] | None:
    """Features and labels to test on: those of another data set, or of the test part of train, or None.

    dtype: of the features.
    """
    if test is not None:
        return test.features(dtype=dtype), test.y
    if train.X_test is None or train.y_test is None:
        return None
    return train.features("test", dtype), train.y_test


def validated(train: "Dataset", dtype: Any) -> tuple[Any, np.ndarray] | None:
    """Features and labels of the rows of train that are held out, or None. dtype: of the features."""
    if train.y_validation is None:
        return None
    return train.features("validation", dtype), train.y_validation
