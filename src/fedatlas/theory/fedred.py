"""DANE, DANE+ and FedRed (Jiang, Rodomanov & Stich 2024): the theorems and corollaries of the paper, by number."""

from dataclasses import dataclass
from math import ceil, isclose, isfinite
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.problems.base import Problem
from fedatlas.theory.theorem import Conditions, Count, RunTheorem, at_each

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class FedRedConstants:
    """Constants of a problem and a start x0 in the FedRed paper.

    mu, L: convexity and smoothness of every client's objective. delta_A, delta_B: averaged and bounded Hessian
    dissimilarity (Definitions 2 and 1). D0 = |x0 - x*|. gap = f(x0) - f*.
    """

    mu: float
    L: float
    delta_A: float
    delta_B: float
    D0: float
    gap: float


class FedRedBound(RunTheorem[FedRedConstants]):
    """A theorem or corollary of the FedRed paper, on problems with exact constants."""

    every_round = True
    convex: ClassVar[bool] = True  # whether the objective of every client must be convex

    def requirements(self, c: FedRedConstants, rounds: int) -> Conditions:
        yield "convex clients", not self.convex or c.mu >= 0

    def constants(self, problem: Problem, setting: Setting, curve: "pd.DataFrame") -> FedRedConstants:
        exact = problem.constants()
        values = (exact["mu_min"], exact["L_max"], exact["delta_A"], exact["delta_B"], *_distance_and_gap(curve))
        return FedRedConstants(*map(float, values))

    def measured(self, c: FedRedConstants, curve: "pd.DataFrame") -> np.ndarray:
        return curve["suboptimality"].to_numpy(float)


def at_least(value: float, low: float) -> bool:
    """Return whether value >= low, up to rounding error."""
    return value >= low * (1 - 1e-9)


def quotient(a: float, b: float) -> float:
    """Return a / b; not a number where b is 0, as where clients do not differ and the objective is not curved."""
    return a / b if b else np.nan


def decay(c: FedRedConstants, rate: float, weight: float, count: Count) -> Count:
    """Return mu/2 D0^2 / ((1 + rate)^count - 1), or its limit weight D0^2 / count where mu is 0.

    Theorems 4, 7 and 9 and Corollary 21 have this form, with weight * rate = mu/2.
    """
    if c.mu == 0:
        return weight * c.D0**2 / count
    with np.errstate(over="ignore"):
        return c.mu / 2 * c.D0**2 / np.expm1(count * np.log1p(rate))


def least_square(curve: "pd.DataFrame") -> np.ndarray:
    """Return the least squared gradient norm up to each evaluation of a run, its start among them."""
    return np.minimum.accumulate(curve["gradient_norm"].to_numpy(float) ** 2)


def _distance_and_gap(curve: "pd.DataFrame") -> tuple[float, float]:
    """Return D0 and gap of a run.

    Where the optimum is not known, the gap is what the run itself descends. That is no more than f(x0) - f*, so no
    theorem's bound is larger for it.
    """
    first = curve.iloc[0]
    if "suboptimality" in curve and np.isfinite(first["suboptimality"]):
        return float(first["distance"]), float(first["suboptimality"])
    return np.nan, float(first["loss"] - curve["loss"].min())


class Theorem1(FedRedBound):
    """Theorem 1: DANE+ with an arbitrary client's model and exact subproblems (e_r = 0), the least squared gradient.

    With lam = a delta_B, a > 1, the bound is 4 (a+1)^2 / (a-1) delta_B gap / R.
    """

    name, algorithms, convex = "1", ("dane",), False
    quantity = "least squared gradient norm so far"

    def choices(self, c: FedRedConstants, rounds: int) -> dict[str, float]:
        return {"lam": 2 * c.delta_B}

    def conditions(self, c: FedRedConstants, a: Any, rounds: int) -> Conditions:
        yield "averaging = random", a.averaging == "random"
        yield "lam > delta_B", a.lam > c.delta_B

    def bound(self, c: FedRedConstants, a: Any, count: Count) -> Count:
        ratio = a.lam / c.delta_B
        return 4 * (ratio + 1) ** 2 / (ratio - 1) * c.delta_B * c.gap / count

    def measured(self, c: FedRedConstants, curve: "pd.DataFrame") -> np.ndarray:
        return least_square(curve)


class Corollary2(FedRedBound):
    """Corollary 2: DANE+ with an arbitrary client's model, from local gradient descent's point of least gradient.

    In its proof (Corollary 30) (lam + L) R / (18 delta_B) local steps of size 1/(L + lam) are enough for R rounds.
    """

    kind, name, algorithms, convex = "Corollary", "2", ("dane+-gd-least",), False
    quantity = "least squared gradient norm so far"

    def choices(self, c: FedRedConstants, rounds: int) -> dict[str, float]:
        lam = 2 * c.delta_B
        return {"lam": lam, "lr": quotient(1, c.L + lam)}

    def conditions(self, c: FedRedConstants, a: Any, rounds: int) -> Conditions:
        yield "averaging = random", a.averaging == "random"
        yield "lam = 2 delta_B", isclose(a.lam, 2 * c.delta_B)
        yield "lr = 1 / (L + lam)", isclose(a.lr, 1 / (c.L + a.lam))
        enough = ceil((a.lam + c.L) / (18 * c.delta_B) * rounds * (1 - 1e-9))
        yield f"solver_steps >= {enough}", a.solver_steps >= enough

    def bound(self, c: FedRedConstants, a: Any, count: Count) -> Count:
        return 72 * c.delta_B * c.gap / count

    def measured(self, c: FedRedConstants, curve: "pd.DataFrame") -> np.ndarray:
        return least_square(curve)


class Theorem4(FedRedBound):
    """Theorem 4: DANE+ with mean averaging, the best iterate so far; subproblems exact or to Corollary 5's accuracy.

    That accuracy is certain where the stopping rule's mu is at most that of the clients and ``max_steps`` local steps
    are enough in every round.
    """

    name = "4"
    algorithms: ClassVar[tuple[str, ...]] = ("dane", "dane+-gd", "dane+-fgd")
    quantity = "best suboptimality so far"

    def choices(self, c: FedRedConstants, rounds: int) -> dict[str, float]:
        return {"lam": 2 * c.delta_A}

    def conditions(self, c: FedRedConstants, a: Any, rounds: int) -> Conditions:
        yield "averaging = mean", a.averaging == "mean"
        yield "lam >= 2 delta_A", at_least(a.lam, 2 * c.delta_A)
        if "prox" not in a.requires:  # under which subproblems reach Corollary 5's accuracy
            yield "mu <= the clients' mu", at_least(c.mu, a.mu)
            enough = a.sufficient_steps(c.L, max(rounds - 1, 0))
            yield "lr <= 1 / (L + lam)", isfinite(enough)
            yield f"max_steps >= {enough}", a.max_steps >= enough

    def bound(self, c: FedRedConstants, a: Any, count: Count) -> Count:
        return 2 * decay(c, c.mu / a.lam, a.lam / 2, count)

    def measured(self, c: FedRedConstants, curve: "pd.DataFrame") -> np.ndarray:
        gap = curve["suboptimality"].to_numpy(float)
        return np.concatenate([gap[:1], np.minimum.accumulate(gap[1:])])


class Corollary5(Theorem4):
    """Corollary 5: the local steps of DANE+-GD and DANE+-FGD in each round, on average over clients.

    The bound is the number of steps that its proof asks for, with all constants. A round takes one gradient for the
    control variate, and one for each local step, at the point to which it leads.
    """

    kind, name, algorithms = "Corollary", "5", ("dane+-gd", "dane+-fgd")
    quantity = "local steps of the round"

    def choices(self, c: FedRedConstants, rounds: int) -> dict[str, float]:
        lam = 2 * c.delta_A
        return {"lam": lam, "lr": quotient(1, c.L + lam), "mu": c.mu}

    def requirements(self, c: FedRedConstants, rounds: int) -> Conditions:
        yield from super().requirements(c, rounds)
        yield "delta_A + mu <= L", c.delta_A + c.mu <= c.L

    def conditions(self, c: FedRedConstants, a: Any, rounds: int) -> Conditions:
        yield from super().conditions(c, a, rounds)
        yield "lam = 2 delta_A", isclose(a.lam, 2 * c.delta_A)

    def bound(self, c: FedRedConstants, a: Any, count: Count) -> Count:
        return at_each(lambda number: float(a.sufficient_steps(c.L, round(number) - 1)), count)

    def measured(self, c: FedRedConstants, curve: "pd.DataFrame") -> np.ndarray:
        return np.diff(curve["gradients"].to_numpy(float), prepend=0.0) - 1


class Corollary21(FedRedBound):
    """Corollary 21 (Appendix B): DANE with lam >= delta_A, the suboptimality plus mu/2 |x - x*|^2 of the last iterate.

    The bound is half of Theorem 4's.
    """

    kind, name, algorithms = "Corollary", "21", ("dane",)
    quantity = "suboptimality + $\\mu/2\\,|x - x^*|^2$"

    def choices(self, c: FedRedConstants, rounds: int) -> dict[str, float]:
        return {"lam": c.delta_A}

    def conditions(self, c: FedRedConstants, a: Any, rounds: int) -> Conditions:
        yield "averaging = mean", a.averaging == "mean"
        yield "lam >= delta_A", at_least(a.lam, c.delta_A)

    def bound(self, c: FedRedConstants, a: Any, count: Count) -> Count:
        return decay(c, c.mu / a.lam, a.lam / 2, count)

    def measured(self, c: FedRedConstants, curve: "pd.DataFrame") -> np.ndarray:
        return curve["suboptimality"].to_numpy(float) + c.mu / 2 * curve["distance"].to_numpy(float) ** 2


class Theorem6(FedRedBound):
    """Theorem 6: FedRed with exact subproblems and one client's model at random.

    It bounds E|grad f|^2 at an iterate drawn uniformly from k = 0 .. K-1. Whether an iteration communicates is
    independent of it, so the points that are communicated are such a sample: measured is their mean, x0 among them.
    """

    name, algorithms, quantity, convex = "6", ("fedred",), "mean squared gradient norm", False
    counts, counted = "steps", "iterations $K$"

    def choices(self, c: FedRedConstants, rounds: int) -> dict[str, float]:
        return {"eta": 4 * c.delta_B, "lam": c.delta_B, "p": 1 / 4}

    def conditions(self, c: FedRedConstants, a: Any, rounds: int) -> Conditions:
        yield "averaging = random, evaluated at x", a.averaging == "random" and a.average == "last"
        yield "lam = delta_B", isclose(a.weight, c.delta_B)
        yield "p = lam / eta", isclose(a.p, a.weight / a.eta)
        yield "eta >= 4 delta_B", at_least(a.eta, 4 * c.delta_B)

    def bound(self, c: FedRedConstants, a: Any, count: Count) -> Count:
        return 150 * a.eta * c.gap / count

    def measured(self, c: FedRedConstants, curve: "pd.DataFrame") -> np.ndarray:
        square = curve["gradient_norm"].to_numpy(float) ** 2
        return np.concatenate([square[:1], np.cumsum(square)[:-1] / np.arange(1, len(square))])


class Theorem6Shifted(Theorem6):
    """Theorem 6 for an iterate of k = 1 .. K, to which its proof (B.154) sums up: x0 is not among them."""

    name, kind = "B.154", "Equation"

    def measured(self, c: FedRedConstants, curve: "pd.DataFrame") -> np.ndarray:
        square = curve["gradient_norm"].to_numpy(float) ** 2
        return np.concatenate([square[:1], np.cumsum(square[1:]) / np.arange(1, len(square))])


class Theorem7(FedRedBound):
    """Theorem 7: FedRed with exact subproblems and mean averaging, at the weighted average of all iterates."""

    name, algorithms, quantity = "7", ("fedred",), "suboptimality of the weighted average"
    counts, counted = "steps", "iterations $K$"

    def choices(self, c: FedRedConstants, rounds: int) -> dict[str, float]:
        lam, eta = c.delta_A, 4 * c.delta_A
        return {"eta": eta, "lam": lam, "p": quotient(lam + c.mu / 2, eta + c.mu / 2)}

    def conditions(self, c: FedRedConstants, a: Any, rounds: int) -> Conditions:
        yield "averaging = mean, average = weighted", a.averaging == "mean" and a.average == "weighted"
        yield "mu = the clients' mu", isclose(a.mu, c.mu)
        yield "p = (lam + mu/2) / (eta +- mu/2)", isclose(a.p, a.theory)
        yield self.sizes(c, a)

    def sizes(self, c: FedRedConstants, a: Any) -> tuple[str, bool]:
        """Return the condition on eta and lambda."""
        return "eta >= lam >= delta_A", a.eta >= a.weight and at_least(a.weight, c.delta_A)

    def bound(self, c: FedRedConstants, a: Any, count: Count) -> Count:
        return decay(c, c.mu / (2 * a.eta), a.eta, count)


class Theorem9(Theorem7):
    """Theorem 9 without noise: FedRed-GD with mean averaging; its text takes lam = delta_A, Lemma 35 no less."""

    name, algorithms = "9", ("fedred-gd",)

    def choices(self, c: FedRedConstants, rounds: int) -> dict[str, float]:
        lam, eta = c.delta_A, c.L
        return {"eta": eta, "lam": lam, "p": quotient(lam + c.mu / 2, eta - c.mu / 2)}

    def requirements(self, c: FedRedConstants, rounds: int) -> Conditions:
        yield from super().requirements(c, rounds)
        yield "delta_A + mu <= L", c.delta_A + c.mu <= c.L

    def sizes(self, c: FedRedConstants, a: Any) -> tuple[str, bool]:
        return "eta >= L and lam >= delta_A", at_least(a.eta, c.L) and at_least(a.weight, c.delta_A)

    def bound(self, c: FedRedConstants, a: Any, count: Count) -> Count:
        return decay(c, c.mu / (2 * a.eta - 2 * c.mu), a.eta, count)


class Theorem8(Theorem6):
    """Theorem 8 without noise: FedRed-GD with one client's model at random, at an iterate as in Theorem 6."""

    name, algorithms = "8", ("fedred-gd",)

    def choices(self, c: FedRedConstants, rounds: int) -> dict[str, float]:
        return {"eta": 6 * c.L, "lam": c.delta_B, "p": quotient(c.delta_B, c.L)}

    def requirements(self, c: FedRedConstants, rounds: int) -> Conditions:
        yield "delta_B <= L", c.delta_B <= c.L

    def conditions(self, c: FedRedConstants, a: Any, rounds: int) -> Conditions:
        yield "averaging = random, evaluated at x", a.averaging == "random" and a.average == "last"
        yield "eta = 6 L", isclose(a.eta, 6 * c.L)
        yield "lam = delta_B", isclose(a.weight, c.delta_B)
        yield "p = delta_B / L", isclose(a.p, quotient(c.delta_B, c.L))

    def bound(self, c: FedRedConstants, a: Any, count: Count) -> Count:
        return 96 * c.L * c.gap / count


FEDRED_BOUNDS: dict[str, RunTheorem[Any]] = {
    bound.name: bound()  # theorems and corollaries share one numbering
    for bound in (
        Theorem1,
        Corollary2,
        Theorem4,
        Corollary5,
        Theorem6,
        Theorem6Shifted,
        Theorem7,
        Theorem8,
        Theorem9,
        Corollary21,
    )
}
