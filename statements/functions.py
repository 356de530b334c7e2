"""Functions whose smoothness, convexity and minimiser are known exactly.

The second derivative of a curve is piecewise constant, or piecewise linear with a bounded slope: among functions with
given constants these turn inequalities into equalities. A function of d coordinates is a sum of curves along the axes
of a rotated basis, so its constants are those of its curves. Arrays have any number of leading axes.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np


@dataclass(frozen=True)
class Curve:
    """A curve with phi'(root) = phi(root) = 0 and phi''(t) = start + sum_j jumps_j max(t - breaks_j, 0)^order.

    With order 0, max(., 0)^0 is a step. Jumps of order 1 are changes of the slope of phi''.
    """

    root: float
    start: float
    jumps: tuple[float, ...] = ()
    breaks: tuple[float, ...] = ()
    order: int = 0

    def _sum(self, t, power):
        scale = {0: 1, 1: self.order + 1, 2: (self.order + 1) * (self.order + 2)}[power]
        total = self.start * t**power / (2 if power == 2 else 1) + 0.0 * t
        for jump, place in zip(self.jumps, self.breaks, strict=True):
            beyond = t - place
            part = (
                (beyond > 0).astype(float) if self.order + power == 0 else np.maximum(beyond, 0) ** (self.order + power)
            )
            total = total + jump * part / scale
        return total

    def second(self, t):
        """phi''."""
        return self._sum(np.asarray(t, float), 0)

    def first(self, t):
        """phi'."""
        t = np.asarray(t, float)
        return self._sum(t, 1) - self._sum(np.asarray(self.root), 1)

    def value(self, t):
        """phi."""
        t, root = np.asarray(t, float), np.asarray(self.root)
        return self._sum(t, 2) - self._sum(root, 2) - self._sum(root, 1) * (t - root)

    @cached_property
    def least(self):
        """The least value of a curve of order 0 that grows at both ends, or of a convex one."""
        ends = np.array([-np.inf, *sorted(self.breaks), np.inf])
        middles = np.clip((np.clip(ends[:-1], -1e9, 1e9) + np.clip(ends[1:], -1e9, 1e9)) / 2, -1e6, 1e6)
        slopes = self.second(middles)
        if slopes.min() >= -1e-12:
            return 0.0
        zeros = middles - self.first(middles) / np.where(slopes == 0, 1, slopes)
        return float(min([0.0, *self.value(zeros[(zeros >= ends[:-1]) & (zeros <= ends[1:])])]))


@dataclass(frozen=True)
class Function:
    """f(x) = offset + <tilt, x> + sum_j phi_j(<q_j, x>), q_j the columns of a rotation.

    mu, L: the least and the largest curvature that the curves may have, so f is mu-convex where mu >= 0, and max(L,
    -mu)-smooth. Q: Lipschitz constant of the Hessian, where it has one.
    """

    curves: tuple[Curve, ...]
    rotation: np.ndarray
    mu: float
    L: float
    Q: float = np.inf
    offset: float = 0.0
    tilt: np.ndarray | float = 0.0

    @property
    def d(self):
        """Number of coordinates."""
        return len(self.curves)

    def __call__(self, x):
        along = x @ self.rotation
        return self.offset + (x * self.tilt).sum(-1) + sum(c.value(along[..., j]) for j, c in enumerate(self.curves))

    def gradient(self, x):
        """Gradient at x (..., d)."""
        along = x @ self.rotation
        firsts = np.stack([c.first(along[..., j]) for j, c in enumerate(self.curves)], -1)
        return firsts @ self.rotation.T + self.tilt

    def hessian(self, x):
        """Hessian at x (d,)."""
        along = x @ self.rotation
        return (self.rotation * [float(c.second(t)) for c, t in zip(self.curves, along, strict=True)]) @ self.rotation.T

    @cached_property
    def least(self):
        """The least value of a function that is not tilted."""
        return self.offset + sum(c.least for c in self.curves)

    @cached_property
    def minimiser(self):
        """The minimiser of a convex function that is not tilted."""
        return self.rotation @ np.array([c.root for c in self.curves])


def quadratic(matrix, centre, mu, L, offset=0.0):
    """Return (x - centre)^T matrix (x - centre) / 2 + offset, with constants that its eigenvalues must respect."""
    values, rotation = np.linalg.eigh(matrix)
    roots = rotation.T @ centre
    curves = tuple(Curve(float(r), float(v)) for r, v in zip(roots, values, strict=True))
    return Function(curves, rotation, mu, L, 0.0, offset)


@dataclass(frozen=True)
class Client:
    """A client's function: one that all clients share, plus <x, matrix x> / 2 + <tilt, x>."""

    common: Function
    matrix: np.ndarray
    tilt: np.ndarray

    @property
    def d(self):
        """Number of coordinates."""
        return self.common.d

    def __call__(self, x):
        return self.common(x) + (x @ self.matrix * x).sum(-1) / 2 + x @ self.tilt

    def gradient(self, x):
        """Gradient at x (..., d)."""
        return self.common.gradient(x) + x @ self.matrix + self.tilt

    def hessian(self, x):
        """Hessian at x (d,)."""
        return self.common.hessian(x) + self.matrix


@dataclass(frozen=True)
class Clients:
    """Clients that differ by quadratics, so that their mean is the shared function and similarities are exact.

    mu, L: every client is mu-convex and L-smooth. delta_A, delta_B: averaged and bounded Hessian dissimilarity.
    """

    functions: tuple[Client, ...]
    mean: Function
    mu: float
    L: float

    @cached_property
    def delta_A(self):
        """Averaged Hessian dissimilarity."""
        return float(np.sqrt(np.linalg.eigvalsh(np.mean([f.matrix @ f.matrix for f in self.functions], axis=0))[-1]))

    @cached_property
    def delta_B(self):
        """Bounded Hessian dissimilarity."""
        return float(max(np.abs(np.linalg.eigvalsh(f.matrix)).max() for f in self.functions))

    def gradients(self, x):
        """Gradients of the clients at their points, x (..., n, d)."""
        return np.stack([f.gradient(x[..., i, :]) for i, f in enumerate(self.functions)], -2)

    def shifts(self, x):
        """grad f_i(x) - grad f(x) at one point, x (..., d): (..., n, d)."""
        return np.stack([f.gradient(x) for f in self.functions], -2) - self.mean.gradient(x)[..., None, :]


def mean_gradient(functions, x):
    """Gradient of the mean of functions at x (..., d)."""
    return sum(f.gradient(x) for f in functions) / len(functions)


def mean_value(functions, x):
    """Mean of functions at x (..., d)."""
    return sum(f(x) for f in functions) / len(functions)


def stationary_point(functions, weight=0.0, centre=0.0, shift=0.0, start=None):
    """Return x with mean gradient + weight (x - centre) = shift by Newton's method; None where it finds none.

    Where mean curvature plus weight is positive, x is the minimiser.
    """
    d = functions[0].d
    x = np.zeros(d) if start is None else np.array(start, float)

    def slope(x):
        return mean_gradient(functions, x) + weight * (x - centre) - shift

    for _ in range(80):
        g = slope(x)
        size = np.linalg.norm(g)
        if size <= 1e-12 * (1 + np.linalg.norm(x)):
            return x
        H = sum(f.hessian(x) for f in functions) / len(functions) + (weight + 1e-14) * np.eye(d)
        step = np.linalg.solve(H, g)
        for _ in range(30):
            if np.linalg.norm(slope(x - step)) < size * (1 - 1e-4) or np.linalg.norm(step) < 1e-15:
                break
            step = step / 2
        x = x - step
    return x if np.linalg.norm(slope(x)) <= 1e-9 else None


def norm2(x):
    """Squared norm along the last axis."""
    return (np.asarray(x) ** 2).sum(-1)


def dot(x, y):
    """Scalar product along the last axis."""
    return (np.asarray(x) * y).sum(-1)
