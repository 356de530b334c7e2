"""The theorems of Jiang, Rodomanov & Stich (2024) on DANE+ and FedRed."""

from dataclasses import dataclass
from math import isclose, isfinite
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

import numpy as np

from fedatlas.algorithms.base import Algorithm
from fedatlas.errors import UserError
from fedatlas.problems.base import Problem

if TYPE_CHECKING:
    import pandas as pd

Count = TypeVar("Count", float, np.ndarray)


@dataclass(frozen=True)
class Similarity:
    """Constants of a problem and a start x0.

    mu, L: convexity and smoothness of every client's objective. delta_A, delta_B: averaged and bounded Hessian
    dissimilarity (Section 2). D0 = |x0 - x*|. gap = f(x0) - f*.
    """

    mu: float
    L: float
    delta_A: float
    delta_B: float
    D0: float
    gap: float


class Bound:
    """A theorem about runs of an algorithm.

    Everywhere c: Similarity; a: the algorithm with its hyper-parameters.
    """

    name: ClassVar[str]
    algorithms: ClassVar[tuple[str, ...]]
    quantity: ClassVar[str]  # what is bounded, for people
    counts: ClassVar[Literal["steps", "round"]] = "steps"  # what the bound falls with: iterations K, or rounds R
    convex: ClassVar[bool] = True  # whether the objective of every client must be convex

    counted: ClassVar[str] = "iterations $K$"  # what ``steps`` are called, for people

    def constants(self, problem: Problem, curve: "pd.DataFrame") -> Any:
        """The constants of a problem and of a run's start. curve: its rows from round 0.

        Raises UserError where the problem does not know them exactly.
        """
        known, start = problem.constants(), curve.iloc[0]
        missing = [name for name in ("mu_min", "L_max", "delta_A", "delta_B") if name not in known]
        if missing:
            raise UserError(
                f"theory: {type(problem).__name__} does not know {missing[0]} exactly; use synthetic quadratics"
            )
        values = (known["mu_min"], known["L_max"], known["delta_A"], known["delta_B"])
        return Similarity(*map(float, (*values, start["distance"], start["suboptimality"])))

    def choices(self, c: Similarity) -> dict[str, float]:
        """The theorem's hyper-parameters, the loosest that it allows."""
        raise NotImplementedError

    def needs(self, c: Similarity) -> str | None:
        """None if the theorem is about problems with these constants, else what it asks of them."""
        return "convex clients" if self.convex and not c.mu >= 0 else None

    def fails(self, c: Similarity, a: Algorithm, rounds: int) -> str | None:
        """The first condition on hyper-parameters that does not hold in a run of so many rounds, or None."""
        raise NotImplementedError

    def bound(self, c: Similarity, a: Algorithm, count: Count) -> Count:
        """The bound after ``count`` > 0 iterations or rounds, one number or an array of them."""
        raise NotImplementedError

    def measured(self, curve: "pd.DataFrame") -> np.ndarray:
        """What is bounded, at each row of a run. The rows are in order of rounds and begin with round 0."""
        return curve["suboptimality"].to_numpy(float)


class Theorem4(Bound):
    """Theorem 4: DANE+ with mean averaging, the best iterate so far; subproblems exact or to Corollary 5's accuracy.

    That accuracy is certain where the stopping rule's mu is at most that of the clients and ``max_steps`` local steps
    are enough in every round.
    """

    name, algorithms, counts = "4", ("dane", "dane+-gd", "dane+-fgd"), "round"
    quantity = "best suboptimality so far"

    def choices(self, c):
        return {"lam": 2 * c.delta_A}

    def fails(self, c, a, rounds):
        if a.averaging != "mean":
            return "averaging = mean"
        if not _at_least(a.lam, 2 * c.delta_A):
            return "lam >= 2 delta_A"
        return None if a.exact_prox else self._inexact(c, a, rounds)

    def _inexact(self, c, a, rounds):
        if not _at_least(c.mu, a.mu):
            return "mu <= the clients' mu"
        if not isfinite(enough := a.sufficient_steps(c.L, max(rounds - 1, 0))):
            return "lr <= 1 / (L + lam)"
        return None if a.max_steps >= enough else f"max_steps >= {enough}"

    def bound(self, c, a, count):
        return 2 * _decay(c, c.mu / a.lam, a.lam / 2, count)

    def measured(self, curve):
        gap = curve["suboptimality"].to_numpy(float)
        return np.concatenate([gap[:1], np.minimum.accumulate(gap[1:])])


class Theorem6(Bound):
    """Theorem 6: FedRed with exact subproblems and one client's model at random.

    It bounds E|grad f|^2 at an iterate drawn uniformly from k = 0 .. K-1. Whether an iteration communicates is
    independent of it, so the points that are communicated are such a sample: measured is their mean, x0 among them.
    """

    name, algorithms, quantity, convex = "6", ("fedred",), "mean squared gradient norm", False

    def choices(self, c):
        return {"eta": 4 * c.delta_B, "lam": c.delta_B, "p": 1 / 4}

    def fails(self, c, a, rounds):
        if a.averaging != "random" or a.average != "last":
            return "averaging = random, evaluated at x"
        if not isclose(a.weight, c.delta_B):
            return "lam = delta_B"
        if not isclose(a.p, a.weight / a.eta):
            return "p = lam / eta"
        return None if _at_least(a.eta, 4 * c.delta_B) else "eta >= 4 delta_B"

    def bound(self, c, a, count):
        return 150 * a.eta * c.gap / count

    def measured(self, curve):
        square = curve["gradient_norm"].to_numpy(float) ** 2
        return np.concatenate([square[:1], np.cumsum(square)[:-1] / np.arange(1, len(square))])


class Theorem7(Bound):
    """Theorem 7: FedRed with exact subproblems and mean averaging, at the weighted average of all iterates."""

    name, algorithms, quantity = "7", ("fedred",), "suboptimality of the weighted average"

    def choices(self, c):
        lam, eta = c.delta_A, 4 * c.delta_A
        return {"eta": eta, "lam": lam, "p": (lam + c.mu / 2) / (eta + c.mu / 2)}

    def fails(self, c, a, rounds):
        if a.averaging != "mean" or a.average != "weighted":
            return "averaging = mean, average = weighted"
        if not isclose(a.mu, c.mu):
            return "mu = the clients' mu"
        if not isclose(a.p, a.theory):
            return "p = (lam + mu/2) / (eta +- mu/2)"
        return self._sizes(c, a)

    def _sizes(self, c, a):
        return None if a.eta >= a.weight and _at_least(a.weight, c.delta_A) else "eta >= lam >= delta_A"

    def bound(self, c, a, count):
        return _decay(c, c.mu / (2 * a.eta), a.eta, count)


class Theorem9(Theorem7):
    """Theorem 9 without noise: FedRed-GD with mean averaging; its text takes lam = delta_A, Lemma 35 no less."""

    name, algorithms = "9", ("fedred-gd",)

    def choices(self, c):
        lam, eta = c.delta_A, c.L
        return {"eta": eta, "lam": lam, "p": (lam + c.mu / 2) / (eta - c.mu / 2)}

    def needs(self, c):
        return super().needs(c) or (None if c.delta_A + c.mu <= c.L else "delta_A + mu <= L")

    def _sizes(self, c, a):
        return None if _at_least(a.eta, c.L) and _at_least(a.weight, c.delta_A) else "eta >= L and lam >= delta_A"

    def bound(self, c, a, count):
        return _decay(c, c.mu / (2 * a.eta - 2 * c.mu), a.eta, count)


BOUNDS: dict[str, Bound] = {theorem.name: theorem() for theorem in (Theorem4, Theorem6, Theorem7, Theorem9)}


def _at_least(value: float, low: float) -> bool:
    """Whether value >= low, up to rounding error."""
    return value >= low * (1 - 1e-9)


def _decay(c: Similarity, rate: float, weight: float, count: Count) -> Count:
    """mu/2 D0^2 / ((1 + rate)^count - 1), which is weight D0^2 / count where mu is 0: then weight rate = mu/2."""
    if c.mu == 0:
        return weight * c.D0**2 / count
    with np.errstate(over="ignore"):
        return c.mu / 2 * c.D0**2 / np.expm1(count * np.log1p(rate))
