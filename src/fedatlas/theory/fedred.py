"""The theorems of Jiang, Rodomanov & Stich (2024) on DANE+ and FedRed, as bounds on runs."""

from dataclasses import dataclass
from math import isclose, isfinite
from typing import ClassVar

import numpy as np

from fedatlas.errors import UserError


@dataclass(frozen=True)
class Similarity:
    """Constants of a problem and a start. mu, L: convexity and smoothness of every client's objective. delta_A,
    delta_B: averaged and bounded Hessian dissimilarity (Section 2). D0 = |x0 - x*|. gap = f(x0) - f*."""

    mu: float
    L: float
    delta_A: float
    delta_B: float
    D0: float
    gap: float


class Bound:
    """A theorem about an algorithm ``a`` with its hyper-parameters. c: Similarity."""

    name: ClassVar[str]
    algorithms: ClassVar[tuple]
    quantity: ClassVar[str]  # what is bounded, for people
    counts: ClassVar[str] = "steps"  # what the bound falls with: iterations K, or rounds R
    convex: ClassVar[bool] = True  # whether every client's objective must be

    def choices(self, c):
        """The theorem's hyper-parameters, the loosest that it allows."""
        raise NotImplementedError

    def needs(self, c):
        """None if the theorem is about problems with these constants, else what it asks of them."""
        return "convex clients" if self.convex and not c.mu >= 0 else None

    def fails(self, c, a, rounds):
        """The first condition on hyper-parameters that does not hold for so many rounds, or None."""
        raise NotImplementedError

    def bound(self, c, a, count):
        """The bound after ``count`` > 0 iterations or rounds; takes arrays."""
        raise NotImplementedError

    def measured(self, curve):
        """What the bound is on, from a run's rows in order of rounds, of which the first is round 0."""
        return curve["suboptimality"].to_numpy(float)


class Theorem4(Bound):
    """Theorem 4: DANE+ with mean averaging, the best iterate so far; subproblems exact or to Corollary 5's accuracy.

    That accuracy is certain where the stopping rule knows no larger mu than the clients' and no round can run out of
    local steps.
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
        if not isfinite(enough := a.enough(c.L, max(rounds - 1, 0))):
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


BOUNDS = {theorem.name: theorem() for theorem in (Theorem4, Theorem6, Theorem7, Theorem9)}


def constants(problem, D0, gap):
    """Similarity of a problem whose constants are known exactly. Raises UserError where they are not."""
    known = problem.constants()
    missing = [name for name in ("mu_min", "L_max", "delta_A", "delta_B") if name not in known]
    if missing:
        raise UserError(
            f"theory: {type(problem).__name__} does not know {missing[0]} exactly; use synthetic quadratics"
        )
    values = (known["mu_min"], known["L_max"], known["delta_A"], known["delta_B"], D0, gap)
    return Similarity(*(float(value) for value in values))


def compare(theorem, algorithm, problem, curve):
    """(count, measured, bound) of a run, arrays over its evaluations after round 0.

    theorem: a Bound. algorithm: an Algorithm. curve: the run's rows with ``round``, ``steps`` and metrics, from round
    0. Raises UserError if the theorem says nothing about the run.
    """
    curve = curve.sort_values("round")
    first = curve.iloc[0]
    if first["round"] != 0 or not (curve["round"].diff().iloc[1:] == 1).all():
        raise UserError(f"theorem {theorem.name} speaks of every round: set eval_rounds to 1")
    c = constants(problem, first["distance"], first["suboptimality"])
    if algorithm.name not in theorem.algorithms:
        raise UserError(f"theorem {theorem.name} is about {' and '.join(theorem.algorithms)}, not {algorithm.name}")
    rounds = int(curve["round"].iloc[-1])
    if (condition := theorem.needs(c) or theorem.fails(c, algorithm, rounds)) is not None:
        raise UserError(f"theorem {theorem.name} needs {condition} for {algorithm.name}")
    count = curve[theorem.counts].to_numpy(float)[1:]
    return count, theorem.measured(curve)[1:], theorem.bound(c, algorithm, count)


def _at_least(value, low):
    return value >= low * (1 - 1e-9)


def _decay(c, rate, weight, count):
    """mu/2 D0^2 / ((1 + rate)^count - 1), which is weight D0^2 / count where mu is 0: then weight rate = mu/2."""
    if c.mu == 0:
        return weight * c.D0**2 / count
    with np.errstate(over="ignore"):
        return c.mu / 2 * c.D0**2 / np.expm1(count * np.log1p(rate))
