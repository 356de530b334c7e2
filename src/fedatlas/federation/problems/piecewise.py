"""Piecewise quadratic functions of one variable, and the one on which accelerated gradient descent is unstable."""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from typing import Any

import numpy as np

from fedatlas.errors import UserError
from fedatlas.federation import arrays
from fedatlas.federation.problems import SyntheticKind
from fedatlas.federation.problems.base import Batch, Optimum, Problem
from fedatlas.registry.options import option

Rule = tuple[Sequence[Sequence[Decimal]], Sequence[Decimal], Sequence[Decimal]]  # (A, b, c)


@dataclass(frozen=True, kw_only=True)
class AcceleratedInstability(SyntheticKind):
    """The function on which accelerated gradient descent is unstable (Yuan & Ma 2020, arXiv:2006.08950, Lemma F.2, for
    their Algorithm 3, AGD).

    F'' is L around the points md of every third step and mu elsewhere (eqs. F.2 and F.3); the start is w = ag = 1 and
    the minimiser 0. All clients have this F, however many they are. Rounding errors grow as other differences do: in
    float64, AGD leaves the short pieces after some 100 steps.
    """

    name = "piecewise"
    constants = ("mu", "L")
    reports = ("loss", "suboptimality", "distance")
    exact = True
    fixed_start = True

    kappa: float = option(doc="condition number L / mu", above=1)
    steps: int = option(doc="steps of AGD, the lemma's 3K", low=1)
    L: float = option(1.0, doc="largest second derivative", above=0)

    def cheap(self, clients: int) -> bool:
        return self.steps <= 100

    def build(self, clients: int) -> "Piecewise":
        """Build the problem, for any number of clients."""
        kappa, steps, L = self.kappa, self.steps, self.L
        with localcontext(prec=_digits(kappa, steps)):
            root = Decimal(kappa).sqrt()
            c = (1 / (root + 1), root / (root + 1))
            A = ((1 - 1 / root + c[0] / root, c[1] / root), c)
            return Piecewise.along((A, (root / Decimal(L), 1 / Decimal(L)), c), kappa, steps, L)


class Piecewise(Problem):
    """One convex function of one variable that all clients share; F' is continuous, F'' constant between knots.

    Knots and curvatures may be floats, Fractions or Decimals: ``exact`` computes in their arithmetic, the engine in
    float64.

    Args:
        knots: n increasing numbers.
        curvatures: The n + 1 second derivatives between and beyond the knots, none negative.
        minimiser: Point at which F and F' are 0.
        start: First point x0.
    """

    dim = samples = 1
    digits = 17  # of the arithmetic that ``exact`` is meant for, where that is Decimal

    def __init__(self, knots: Sequence[Any], curvatures: Sequence[Any], minimiser: Any = 0.0, start: Any = 1.0) -> None:
        self.knots, self.curvatures = list(knots), list(curvatures)
        self.minimiser, self.x0 = minimiser, start
        i = bisect_left(self.knots, minimiser)
        new = i == len(self.knots) or self.knots[i] != minimiser
        self._nodes = self.knots[:i] + [minimiser] * new + self.knots[i:]
        self._pieces = self.curvatures[: i + 1] + self.curvatures[i + (not new) :]
        self._at = self._integrate(i)
        self._floats = [np.array([float(number) for number in part]) for part in (self._nodes, self._pieces)]
        self._floats += [np.array([float(pair[order]) for pair in self._at]) for order in (0, 1)]
        self.optimum = Optimum(0.0, np.array([float(minimiser)]), 0.0)

    def _integrate(self, minimiser: int) -> list[tuple[Any, Any]]:
        """Return (F, F') at every node, from the number of the minimiser's node."""
        zero = 0 * self._pieces[0]
        at = {minimiser: (zero, zero)}
        for direction in (1, -1):  # outwards from the minimiser, so that no digits cancel close to it
            i = minimiser
            while 0 <= i + direction < len(self._nodes):
                piece = self._pieces[i + 1] if direction > 0 else self._pieces[i]
                at[i + direction] = _extend(*at[i], piece, self._nodes[i + direction] - self._nodes[i])
                i += direction
        return [at[i] for i in range(len(self._nodes))]

    @classmethod
    def along(cls, rule: Rule, kappa: float, steps: int, L: float = 1.0) -> "Piecewise":
        """Build the function of Lemma F.2 for a method that is linear apart from one gradient a step.

        The lemma is proved by induction: it adds one piece and runs the method anew. Here F' is integrated from the
        start towards the minimiser, the point at which F' comes to 0: a piece then changes no gradient before it, and
        one pass gives the function.

        Args:
            rule: (A, b, c) of the step z <- A z - b F'(md), md = <c, z>, as Decimals; rows of A and c must sum to one,
                as weights of averages do.
            kappa: L / mu, larger than 1.
            steps: Steps of the method.
            L: Largest second derivative.

        Raises:
            UserError: The points of the method do not decrease.
        """
        digits = _digits(kappa, steps)
        with localcontext(prec=digits):
            A, b, c = rule
            top = Decimal(L)
            mu = top / Decimal(kappa)
            z, knots, low, slope = (Decimal(1),) * len(c), [], Decimal(1), mu
            share = Decimal(1) / (steps + 6) ** 2  # of F' over half a piece; more would push w past the minimiser
            for t in range(steps):
                md = _dot(c, z)
                half = share * slope / top if t % 3 == 1 else 0
                slope -= mu * (low - md - half) + top * half
                if t and not (md + half < low and slope > 0):
                    raise UserError("piecewise: the points of this method do not decrease towards the minimiser")
                z = tuple(_dot(row, z) - weight * slope for row, weight in zip(A, b, strict=True))
                low = md - half
                slope -= top * half
                knots += [md + half, low] if half else []
            minimiser = low - slope / mu
            knots = [(knot - minimiser) / (1 - minimiser) for knot in reversed(knots)]
            problem = cls(knots, [mu, top] * (len(knots) // 2) + [mu], Decimal(0), Decimal(1))
        problem.digits = digits
        return problem

    def exact(self, x: Any) -> tuple[Any, Any, Any]:
        """Return (F, F', F'') at x in the arithmetic of the knots; at a knot, F'' is that of the piece to its right."""
        i = bisect_right(self._nodes, x)
        base = i - 1 if x >= self.minimiser else i
        return *_extend(*self._at[base], self._pieces[i], x - self._nodes[base]), self._pieces[i]

    def margin(self, x: Any) -> Any:
        """Return the distance of x from the nearest knot: F'' is constant closer to x than this."""
        i = bisect_right(self.knots, x)
        return min((abs(x - knot) for knot in self.knots[max(0, i - 1) : i + 1]), default=Decimal("Infinity"))

    def constants(self) -> dict[str, float]:
        """Return mu and L, the smallest and largest second derivative."""
        return {"mu": float(min(self.curvatures)), "L": float(max(self.curvatures))}

    @property
    def smoothness(self) -> float:
        """L."""
        return self.constants()["L"]

    def start(self, seed: int) -> np.ndarray:
        return np.array([float(self.x0)])

    def batch(self, clients: np.ndarray, index: np.ndarray) -> Batch:
        return PiecewiseBatch(self, len(clients), index.shape[1])

    def full_batch(self, clients: np.ndarray) -> Batch:
        return PiecewiseBatch(self, len(clients), 1)

    def value_and_gradient(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return F and F' at every number of x, in float64: two arrays of its shape."""
        nodes, pieces, values, slopes = self._floats
        i = np.searchsorted(nodes, x, side="right")
        base = np.where(x >= float(self.minimiser), i - 1, np.minimum(i, len(nodes) - 1))  # the latter where x is NaN
        with np.errstate(over="ignore", invalid="ignore"):
            return _extend(values[base], slopes[base], pieces[i], x - nodes[base])

    def value(self, x: np.ndarray) -> float:
        return float(self.value_and_gradient(x)[0][0])

    def gradient(self, x: np.ndarray) -> np.ndarray:
        """Return F' at x (1,): (1,)."""
        return self.value_and_gradient(x)[1]

    def evaluate(self, x: np.ndarray) -> dict[str, float]:
        loss = self.value(x)
        return {"loss": loss, "suboptimality": loss, "distance": abs(float(x[0]) - float(self.minimiser))}


class PiecewiseBatch:
    """A block of m clients, which all have the same function."""

    def __init__(self, problem: Piecewise, m: int, size: int) -> None:
        self.problem, self.m, self.size = problem, m, size

    def grad(self, y: np.ndarray) -> np.ndarray:
        return self.value_and_grad(y)[1]

    def value_and_grad(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.problem.value_and_gradient(arrays.rows(y, self.m))


def _extend(value: Any, slope: Any, curvature: Any, d: Any) -> tuple[Any, Any]:
    """Return (F, F') at distance d along one piece."""
    return value + (slope + curvature * d / 2) * d, slope + curvature * d


def _dot(a: Sequence[Any], z: Sequence[Any]) -> Any:
    return sum(x * y for x, y in zip(a, z, strict=True))


def _digits(kappa: float, steps: int) -> int:
    """Return the digits that tell two runs apart: points shrink like (1 - 1/sqrt(kappa))^t, gaps grow like 2^(t/3)."""
    return 60 + math.ceil(steps * (0.11 - 3 * math.log10(1 - 1 / math.sqrt(kappa))))
